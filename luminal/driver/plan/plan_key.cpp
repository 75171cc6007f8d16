#include "luminal/driver/plan/plan_key.h"

#include "luminal/backends/registry/registry.h"
#include "luminal/base/check.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/kernel/ir/kernel_bytes.h"
#include "luminal/records/device.h"

namespace luminal {
namespace {

// Structs are unpacked by structured bindings of all their fields: a new field doesn't compile
// until it is handled here.
class KeyWriter {
 public:
  std::string write(const PlanQuestion& question) {
    out().text("luminal plan 2");
    out().text(base::source_fingerprint());
    const auto& [backend, target, device] = question.place;
    for (const std::string& of_place : {backend, target, device}) out().text(of_place);
    write_options(question.planning);
    out().flag(question.packing.has_value());
    if (question.packing) {
      const auto& [lanes, bf16_depth, byte_depth] = *question.packing;
      out().integer(lanes);
      out().integer(bf16_depth);
      out().integer(byte_depth);
    }
    out().flag(question.explained);
    out().flag(question.with_rivals);
    out().number(question.first_kernel);
    write_graph(question.graph);
    write_nodes(question.roots);
    return writer_.bytes();
  }

 private:
  base::ByteWriter& out() { return writer_.out; }

  void write_options(const search::PlanningOptions& options) {
    const auto& [rules, admission, search, roll, fusing] = options;
    out().number(rules.size());
    for (const auto& [file, text, origin] : rules) {
      const auto& [by, name] = origin;
      out().text(file);
      out().text(text);
      out().number(static_cast<uint64_t>(by));
      out().text(name);
    }
    const auto& [up_to, disabled] = admission;
    out().number(static_cast<uint64_t>(up_to));
    out().number(disabled.size());
    for (const std::string& group : disabled) out().text(group);
    write_search(search);
    out().number(static_cast<uint64_t>(roll));
    out().number(fusing.size());
    for (const auto& [node, stored] : fusing) {
      out().number(node.value);
      out().flag(stored);
    }
  }

  void write_search(const search::SearchOptions& search) {
    const auto& [fusion, machine, sizes, seed, chain_ops, thorough_up_to, starts, order, again,
                 sideways, fixed_terms, limits, costs, progress] = search;
    LUMINAL_CHECK(costs == nullptr, "a plan's key must not depend on measured costs");
    out().number(static_cast<uint64_t>(fusion));
    const auto& [bytes_rate, near_rate, streamed_rate, flops_rate, product_rate, exact_rate, launch,
                 step, threads, data_in, alone, alone_bytes, alone_flops, calibration] = machine;
    for (double rate : {bytes_rate, near_rate, streamed_rate, flops_rate, product_rate, exact_rate,
                        launch, step, alone, alone_bytes, alone_flops}) {
      out().real(rate);
    }
    out().integer(threads);
    out().number(static_cast<uint64_t>(data_in));
    out().flag(calibration != nullptr);
    if (calibration != nullptr) write_calibration(*calibration);
    out().number(sizes.items().size());
    for (const auto& [name, value] : sizes.items()) {
      out().text(name);
      out().integer(value);
    }
    out().number(seed);
    out().number(chain_ops);
    out().number(thorough_up_to);
    out().integer(starts);
    out().number(order);
    out().flag(again);
    out().flag(sideways);
    const auto& [walk, most_local_bytes] = limits;
    const auto& [most_instances] = walk;
    out().integer(most_instances);
    out().integer(most_local_bytes);
    out().number(fixed_terms.size());
    for (const auto& [id, term] : fixed_terms) {
      out().number(id.value);
      out().integer(term);
    }
    (void)progress;  // doesn't affect plans
  }

  void write_calibration(const search::Calibration& calibration) {
    const auto& [kinds, samples, before, after] = calibration;
    for (const search::KindFactors& kind : kinds) {
      const auto& [factors, waiting, of_kind] = kind;
      for (double factor : factors) out().real(factor);
      out().real(waiting);
      (void)of_kind;  // as all that only says how the factors were found
    }
    (void)samples, (void)before, (void)after;
  }

  void write_nodes(const std::vector<NodeId>& nodes) {
    out().number(nodes.size());
    for (NodeId node : nodes) out().number(node.value);
  }

  void write_graph(const Graph& graph) {
    out().number(graph.size());
    for (uint32_t id = 0; id < graph.size(); ++id) write_node(graph.node(NodeId{id}));
    write_nodes(graph.leaves());
    out().number(graph.outputs().size());
    for (const auto& [node, name] : graph.outputs()) {
      out().number(node.value);
      out().text(name);
    }
    out().number(graph.updates().size());
    for (const auto& [state, value] : graph.updates()) write_nodes({state, value});
  }

  void write_node(const Node& node) {
    const auto& [op, dtype, dims, inputs, attribute, label, materialized, removed] = node;
    out().flag(removed);
    if (removed) return;
    kernel::write_op(out(), op);
    kernel::write_dtype(out(), dtype);
    writer_.exprs(dims);
    write_nodes(inputs);
    out().text(label);
    out().flag(materialized);
    out().number(attribute.index());
    std::visit([this](const auto& of) { write_attribute(of); }, attribute);
  }

  void write_attribute(std::monostate) {}
  void write_attribute(const InputAttr& input) {
    out().number(static_cast<uint64_t>(input.role));
    out().text(input.name);
  }
  void write_attribute(const ConstantAttr& constant) {
    out().real(constant.real);
    out().integer(constant.integer);
  }
  void write_attribute(const IotaAttr& iota) { writer_.expr(iota.expr); }
  void write_attribute(const IndexMap& map) { writer_.map(map); }
  void write_attribute(const ReduceAttr& reduce) { kernel::write_reducer(out(), reduce.reducer); }
  void write_attribute(const ScatterAttr& scatter) {
    kernel::write_reducer(out(), scatter.combine);
  }
  void write_attribute(const CustomAttr&) {
    LUMINAL_CHECK(false, "a graph with custom ops has no plan key: code can't be compared");
  }

  shape::ExprWriter writer_;
};

}  // namespace

PlanPlace place_of(const BackendOptions& options) {
  const auto threads = static_cast<int>(base::usable_threads());
  backends::LoadOptions load;
  load.target = options.target;
  return {.backend = options.name,
          .target = backends::find_backend(options.name).target(load),
          .device = records::this_device(options.target, threads).fingerprint};
}

std::string plan_key(const PlanQuestion& question) { return KeyWriter().write(question); }

}  // namespace luminal

#include "luminal/search/terms/lower_graph.h"

#include <algorithm>

#include "luminal/base/check.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/graph/traverse.h"

namespace luminal::search {
namespace {

using egraph::Value;

class Lowering {
 public:
  Lowering(const Graph& graph, Terms& terms) : graph_(graph), terms_(terms) {
    out_.value_of.resize(graph.size());
  }

  LoweredGraph run(const std::vector<NodeId>& roots, PackedResults packed) {
    const std::vector<NodeId> order = topological_order(graph_, roots);
    std::vector<bool> on_host(graph_.size(), false);
    if (packed == PackedResults::Host) on_host = packed_results(order, roots);
    for (NodeId id : order) {
      const Value value = on_host[id.index()] ? source(id, true) : lower(id);
      out_.value_of[id.index()] = value;
      const Node& node = graph_.node(id);
      terms_.egraph.set(terms_.type_of, {value}, terms_.host.of(Type{node.dims, node.dtype}));
      if (node.materialized) out_.materialized.push_back(id);
    }
    out_.stored.insert(out_.stored.end(), roots.begin(), roots.end());
    out_.stored.insert(out_.stored.end(), out_.materialized.begin(), out_.materialized.end());
    std::sort(out_.stored.begin(), out_.stored.end());
    out_.stored.erase(std::unique(out_.stored.begin(), out_.stored.end()), out_.stored.end());
    return std::move(out_);
  }

 private:
  // By node: views and gathers of u4 that must be in memory, as results or for a host step.
  std::vector<bool> packed_results(const std::vector<NodeId>& order,
                                   const std::vector<NodeId>& roots) const {
    std::vector<bool> found(graph_.size(), false);
    auto needed = [&](NodeId id) {
      const Node& node = graph_.node(id);
      if (node.dtype == DType::U4 && node.op != Op::Input && node.op != Op::Custom) {
        found[id.index()] = true;
      }
    };
    for (NodeId id : roots) needed(id);
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (node.materialized) needed(*id);
      if (node.op != Op::Custom && !found[id->index()]) continue;
      for (NodeId input : node.inputs) needed(input);
    }
    return found;
  }

  Value of(NodeId id) const { return out_.value_of[id.index()]; }

  Value source(NodeId id, bool host_step) {
    const auto number = static_cast<int64_t>(out_.sources.size());
    out_.sources.push_back({id, host_step});
    const Value tensor =
        terms_.egraph.add(terms_.source, {terms_.egraph.constants().intern(number)});
    return terms_.egraph.add(terms_.load, {tensor});
  }

  Value leaf(NodeId id) {
    const Value value = source(id, false);
    const bool weight = graph_.node(id).as<InputAttr>().role == Role::Weight;
    if (weight) terms_.egraph.add(terms_.from_weights, {value});
    return value;
  }

  Value lower(NodeId id) {
    const Node& node = graph_.node(id);
    egraph::EGraph& egraph = terms_.egraph;
    const std::optional<StructuralOp> op = structural_op(node.op);
    if (!op) return elementwise(node);
    switch (*op) {
      case StructuralOp::Input:
        return leaf(id);
      case StructuralOp::Constant: {
        const auto& constant = node.as<ConstantAttr>();
        return egraph.add(terms_.constant,
                          {terms_.host.of(Number{node.dtype, constant.real, constant.integer})});
      }
      case StructuralOp::Iota:
        return egraph.add(terms_.iota, {terms_.host.of(node.as<IotaAttr>().expr),
                                        terms_.host.of(Type{node.dims, node.dtype})});
      case StructuralOp::View:
        return egraph.add(terms_.reindex,
                          {terms_.host.of(node.as<IndexMap>()), of(node.inputs[0])});
      case StructuralOp::Reduce:
        return egraph.add(terms_.reduce, {terms_.string(name(node.as<ReduceAttr>().reducer)),
                                          terms_.host.of(graph_.node(node.inputs[0]).dims.back()),
                                          of(node.inputs[0])});
      case StructuralOp::Gather:
        return egraph.add(terms_.gather, {of(node.inputs[0]), of(node.inputs[1])});
      case StructuralOp::Scan:
        return egraph.add(terms_.scan, {terms_.string(name(node.as<ReduceAttr>().reducer)),
                                        terms_.host.of(node.dims.back()), of(node.inputs[0])});
      case StructuralOp::Scatter:
        return scatter(node);
      case StructuralOp::Custom:
        return custom(id);
    }
    LUMINAL_CHECK(false, "an op without a term");
    __builtin_unreachable();
  }

  // Scatters that sum or multiply 16-bit floats round once, at the end: until then they are f32 in
  // memory.
  Value scatter(const Node& node) {
    const std::optional<Reducer> combine = node.as<ScatterAttr>().combine;
    const bool half = is_half(node.dtype);
    const bool widens = half && combine && *combine != Reducer::Max;
    auto cast = [&](DType dtype, Value value) {
      return widens ? terms_.egraph.add(terms_.cast, {terms_.string(name(dtype)), value}) : value;
    };
    const Value stored = terms_.egraph.add(
        terms_.store_at,
        {terms_.string(combine ? name(*combine) : "replace"), cast(DType::F32, of(node.inputs[0])),
         of(node.inputs[1]), cast(DType::F32, of(node.inputs[2]))});
    return cast(node.dtype, stored);
  }

  // The result of the host step and the term that rules match are one value.
  Value custom(NodeId id) {
    const Node& node = graph_.node(id);
    const CustomOp& op = *node.as<CustomAttr>().op;
    const Value value = source(id, true);
    if (op.rules.empty() || node.inputs.size() > Terms::kMostCallInputs) return value;
    std::vector<Value> arguments = {terms_.string(op.name)};
    for (NodeId input : node.inputs) arguments.push_back(of(input));
    terms_.egraph.union_values(value,
                               terms_.egraph.add(terms_.call(node.inputs.size()), arguments));
    return value;
  }

  Value elementwise(const Node& node) {
    if (op_class(node.op) == OpClass::Convert) {
      return terms_.egraph.add(node.op == Op::Cast ? terms_.cast : terms_.bitcast,
                               {terms_.string(name(node.dtype)), of(node.inputs[0])});
    }
    std::vector<Value> operands;
    for (NodeId input : node.inputs) operands.push_back(of(input));
    if (commutes(node.op) && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
    return terms_.egraph.add(terms_.op(node.op), operands);
  }

  const Graph& graph_;
  Terms& terms_;
  LoweredGraph out_;
};

}  // namespace

LoweredGraph lower_graph(const Graph& graph, const std::vector<NodeId>& roots, Terms& terms,
                         PackedResults packed) {
  return Lowering(graph, terms).run(roots, packed);
}

}  // namespace luminal::search

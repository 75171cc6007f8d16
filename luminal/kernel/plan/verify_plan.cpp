#include "luminal/kernel/plan/verify_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/kernel/recognise/panels.h"

namespace luminal::kernel {
namespace {

bool has_type(const Param& param, const TermClass& value) {
  return param.dtype == value.dtype && same_dims(param.dims, value.dims);
}

// Packing kernels move u4 as words of eight, and halves as words of two or as i16.
bool holds_words(const Param& param, const TermClass& value) {
  int64_t elements = 0;  // of a word
  if (param.dtype == DType::I32 && value.dtype == DType::U4) elements = kU4PerWord;
  if (param.dtype == DType::I32 && is_half(value.dtype)) elements = kHalvesPerWord;
  if (param.dtype == DType::I16 && is_half(value.dtype)) elements = 1;
  return elements > 0 && n_elements(param.dims) * Expr(elements) == n_elements(value.dims);
}

class PlanVerifier {
 public:
  PlanVerifier(const PlannedGraph& planned, const Graph& graph)
      : planned_(planned), graph_(graph), terms_(planned.terms) {}

  std::string run(const std::vector<NodeId>& roots) {
    check_sources();
    for (const TermClass& value : terms_.classes) check_class(value);
    if (!check(planned_.class_of.size() <= graph_.size(),
               "it refers to more nodes than the graph has")) {
      return why_;
    }
    for (size_t n = 0; n < planned_.class_of.size(); ++n) {
      const ClassId id = planned_.class_of[n];
      if (id.valid() && is_class(id)) check_node(graph_.node(NodeId::at(n)), id);
    }
    if (!why_.empty()) return why_;
    source_ready_.resize(terms_.sources.size());
    for (SourceId s : terms_.sources.ids()) {
      source_ready_[s] = graph_.node(planned_.source_nodes[s]).op == Op::Input;
    }
    stored_.assign(terms_.classes.size(), false);
    for (const auto& step : planned_.plan.steps) {
      if (!why_.empty()) return why_;
      if (const auto* host = std::get_if<HostStep>(&step)) {
        check_host(*host);
      } else {
        check_kernel(std::get<KernelStep>(step));
      }
    }
    for (NodeId root : roots) {
      check(root.index() < planned_.class_of.size() && planned_.class_of[root.index()].valid() &&
                in_memory(planned_.class_of[root.index()]),
            "a result isn't in memory at the end");
    }
    return why_;
  }

 private:
  bool check(bool holds, const char* what) {
    if (!holds && why_.empty()) why_ = fmt::format("not a plan of this graph: {}", what);
    return holds;
  }

  bool is_class(ClassId id) {
    return check(id.index() < terms_.classes.size(), "it refers to a class that doesn't exist");
  }

  bool is_source(SourceId source) {
    return check(terms_.sources.has(source), "it refers to a tensor that doesn't exist");
  }

  void check_sources() {
    if (!check(planned_.source_nodes.size() == terms_.sources.size(),
               "some of its tensors have no node")) {
      return;
    }
    for (SourceId s : terms_.sources.ids()) {
      const NodeId id = planned_.source_nodes[s];
      if (!check(id.index() < graph_.size(), "it refers to a node that doesn't exist")) return;
      const Node& node = graph_.node(id);
      check(!node.removed && node.dtype == terms_.sources[s].dtype &&
                same_dims(node.dims, terms_.sources[s].dims),
            "a tensor has another type than its node");
    }
  }

  void check_class(const TermClass& value) {
    for (const Term& term : value.terms) {
      for (ClassId operand : operands(term)) is_class(operand);
      const auto* load = std::get_if<LoadTerm>(&term);
      if (load == nullptr || !is_source(load->source)) continue;
      const Source& source = terms_.sources[load->source];
      check(source.dtype == value.dtype && same_dims(source.dims, value.dims),
            "a load has another type than its tensor");
    }
  }

  void check_node(const Node& node, ClassId id) {
    const TermClass& value = terms_.at(id);
    check(!node.removed && node.dtype == value.dtype && same_dims(node.dims, value.dims),
          "a node has another type than its class");
  }

  static bool loads(const TermClass& value, SourceId source) {
    return std::any_of(value.terms.begin(), value.terms.end(), [&](const Term& term) {
      const auto* load = std::get_if<LoadTerm>(&term);
      return load != nullptr && load->source == source;
    });
  }

  bool in_memory(ClassId id) const {
    if (stored_[id.index()]) return true;
    const SourceId source = planned_.source_of(id);
    return source.valid() && source_ready_[source];
  }

  void check_host(const HostStep& step) {
    if (!is_source(step.source)) return;
    const SourceId source = step.source;
    check(!source_ready_[source], "a step computes a tensor that exists already");
    for (NodeId input : graph_.node(planned_.source_nodes[source]).inputs) {
      check(input.index() < planned_.class_of.size() && planned_.class_of[input.index()].valid() &&
                in_memory(planned_.class_of[input.index()]),
            "a step runs before the step whose result it reads");
    }
    source_ready_[source] = true;
  }

  void check_kernel(const KernelStep& step) {
    const Kernel& kernel = step.lowered.kernel;
    const IdVector<ParamId, ParamOrigin>& origins = step.lowered.origins;
    if (!check(origins.size() == kernel.params.size(),
               "a kernel's parameters and their origins differ in number"))
      return;
    for (ClassId id : step.lowered.classes) is_class(id);
    check(allows(kernel, step.strategy), "a step has a strategy that doesn't suit its kernel");
    for (ParamId p : origins.ids()) {
      if (!is_class(origins[p].value)) return;
      const Param& param = kernel.params[p];
      const TermClass& value = terms_.at(origins[p].value);
      check(has_type(param, value) || (!step.packs.empty() && holds_words(param, value)),
            "a parameter has another type than its value");
      if (param.output) {
        check(!origins[p].source.valid(), "a kernel writes a tensor of the graph");
      } else if (origins[p].source.valid()) {
        check(is_source(origins[p].source) && loads(value, origins[p].source) &&
                  source_ready_[origins[p].source],
              "a kernel runs before the step whose result it reads");
      } else {
        check(in_memory(origins[p].value), "a kernel runs before the step whose result it reads");
      }
    }
    for (ClassId id : stored_by(step.lowered)) stored_[id.index()] = true;
  }

  const PlannedGraph& planned_;
  const Graph& graph_;
  const TermGraph& terms_;
  IdVector<SourceId, bool> source_ready_;
  std::vector<bool> stored_;  // by class
  std::string why_;
};

}  // namespace

std::string verify_plan(const PlannedGraph& planned, const Graph& graph,
                        const std::vector<NodeId>& roots) {
  return PlanVerifier(planned, graph).run(roots);
}

}  // namespace luminal::kernel

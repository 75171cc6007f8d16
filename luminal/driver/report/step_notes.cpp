#include "luminal/driver/report/step_notes.h"

#include <fmt/format.h>

#include "luminal/base/check.h"
#include "luminal/graph/custom_op.h"
#include "luminal/runtime/program.h"

namespace luminal {

bool brings_kernel(const Node& node) {
  return node.op == Op::Custom && node.as<CustomAttr>().op->kernel.has_value();
}

std::optional<NodeId> own_kernel_at(const Graph& graph, const kernel::PlannedGraph& planned,
                                    kernel::StepId step) {
  if (!step.valid()) return std::nullopt;
  const auto* host = std::get_if<kernel::HostStep>(&planned.plan.at(step));
  if (host == nullptr) return std::nullopt;
  const NodeId node = planned.source_nodes[host->source];
  return brings_kernel(graph.node(node)) ? std::optional(node) : std::nullopt;
}

std::shared_ptr<const StepNotes> step_notes(const Graph& graph,
                                            std::shared_ptr<const kernel::PlannedGraph> planned,
                                            const std::vector<KernelReport>& kernels) {
  auto notes = std::make_shared<StepNotes>();
  size_t next = 0;
  for (const auto& step : planned->plan.steps) {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      const kernel::SourceId source = host->source;
      const bool own = brings_kernel(graph.node(planned->source_nodes[source]));
      notes->steps.push_back(
          {.name = (own ? "own kernel of " : "host ") + planned->terms.sources[source].name,
           .of_user = true});
      continue;
    }
    LUMINAL_CHECK(next < kernels.size(), "a kernel of the plan isn't in the report");
    const KernelReport& kernel = kernels[next++];
    notes->steps.push_back({.name = kernel.name,
                            .title = kernel.title,
                            .ops = kernel.ops,
                            .rules = kernel.rules,
                            .library = kernel.by_library ? kernel.library : ""});
  }
  notes->planned = std::move(planned);
  return notes;
}

std::string type_text(DType dtype, const Dims& dims, const Bindings& bindings) {
  std::string text;
  for (Expr dim : dims) {
    const Expr::Value value = dim.evaluate(bindings);
    text += text.empty() ? "" : ", ";
    text += value.value ? std::to_string(*value.value) : dim.text();
  }
  return fmt::format("{}[{}]", name(dtype), text);
}

}  // namespace luminal

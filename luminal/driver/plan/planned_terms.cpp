#include "luminal/driver/plan/planned_terms.h"

#include <fmt/format.h>

#include <map>

#include "luminal/search/cost/roofline_bound.h"

namespace luminal {
namespace {

// "add ×2, exp2": what a kernel computes, in alphabetical order.
std::vector<std::string> ops_of(const kernel::TermGraph& terms, const std::vector<int>& chosen,
                                const kernel::LoweredKernel& lowered) {
  std::map<std::string, int> counts;
  for (kernel::ClassId id : lowered.classes) {
    // Classes that packing added have one term.
    const auto term = id.index() < chosen.size() ? static_cast<size_t>(chosen[id.index()]) : 0;
    ++counts[kernel::describe(terms.at(id).terms[term])];
  }
  std::vector<std::string> ops;
  for (const auto& [op, count] : counts) {
    ops.push_back(count == 1 ? op : fmt::format("{} ×{}", op, count));
  }
  return ops;
}

}  // namespace

std::shared_ptr<kernel::PlannedGraph> planned_graph(search::PlannedTerms& terms) {
  auto planned = std::make_shared<kernel::PlannedGraph>();
  planned->terms = std::move(terms.extracted.graph);
  planned->plan = std::move(terms.plan);
  planned->class_of = terms.extracted.class_of;
  for (const search::SourceTensor& source : terms.sources) {
    planned->source_nodes.push_back(source.node);
  }
  return planned;
}

kernel::PackRequest pack_request(const Graph& graph, const std::vector<NodeId>& roots,
                                 const search::PlannedTerms& terms,
                                 const kernel::PlannedGraph& planned,
                                 const kernel::Packing& packing, int first_kernel) {
  kernel::PackRequest result{.packing = packing,
                             .is_weight = {},
                             .results = {},
                             .host_reads = {},
                             .first_kernel = first_kernel};
  for (const search::SourceTensor& source : terms.sources) {
    const Node& node = graph.node(source.node);
    result.is_weight.push_back(!source.host_step && node.as<InputAttr>().role == Role::Weight);
  }
  for (NodeId root : roots) result.results.push_back(planned.class_of[root.index()]);
  for (const search::HostNeed& step : terms.host_steps) {
    result.host_reads.insert(result.host_reads.end(), step.operands.begin(), step.operands.end());
  }
  return result;
}

void report_kernels(const kernel::PlannedGraph& planned, const search::PlannedTerms& terms,
                    const search::SearchOptions& options, CompileReport& report) {
  size_t next = report.kernels.size() - report.n_packing();
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    KernelReport entry;
    entry.packs = !kernel->packs.empty();
    entry.name =
        entry.packs ? fmt::format("panels of {}", kernel->packs) : fmt::format("kernel {}", next++);
    entry.ops = ops_of(planned.terms, terms.chosen, kernel->lowered);
    std::map<std::string, int> rules;
    for (kernel::ClassId id : kernel->lowered.classes) {
      if (entry.packs) break;
      for (const std::string& rule : terms.extracted.rules[id.index()]) ++rules[rule];
    }
    for (const auto& [rule, count] : rules) entry.rules.push_back(rule);
    const kernel::Kernel& k = kernel->lowered.kernel;
    for (const kernel::Param& param : k.params) {
      if (!param.output) continue;
      entry.result += entry.result.empty() ? "" : ", ";
      entry.result += fmt::format("{}{}", name(param.dtype), text(param.dims));
    }
    entry.model_us = kernel->model_seconds * 1e6;
    const search::RooflineBound bound = search::roofline_bound(k, options.machine, options.sizes);
    entry.model_bytes = bound.work.bytes;
    entry.model_flops = bound.work.flops();
    entry.bytes_us = bound.bytes_seconds * 1e6;
    entry.flops_us = bound.flops_seconds * 1e6;
    entry.launch_us = bound.launch_seconds * 1e6;
    entry.text = kernel::text(k);
    entry.strategy = kernel::text(kernel->strategy);
    entry.schedule = kernel->schedule.empty() ? "" : "schedule " + text(kernel->schedule);
    entry.measured_us = kernel->measured.seconds * 1e6;
    entry.measured_low_us = kernel->measured.low * 1e6;
    entry.measured_high_us = kernel->measured.high * 1e6;
    entry.by_library = kernel->strategy == kernel::Strategy::Library;
    entry.library = kernel->library.routine;
    entry.why_no_library = kernel->library.why_none;
    entry.own_us = kernel->library.own_seconds * 1e6;
    entry.library_us = kernel->library.library_seconds * 1e6;
    report.kernels.push_back(std::move(entry));
  }
}

}  // namespace luminal

#include "luminal/driver/planning.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "luminal/base/os_limits.h"
#include "luminal/driver/explain/kernel_facts.h"
#include "luminal/driver/report_stored.h"
#include "luminal/driver/step_notes.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/kernel/pack_weights.h"
#include "luminal/search/choose_terms.h"
#include "luminal/search/extract_terms.h"
#include "luminal/search/find_plan.h"
#include "luminal/search/lower_graph.h"
#include "luminal/search/plan_request.h"
#include "luminal/search/saturate.h"
#include "luminal/search/terms.h"

namespace luminal {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

search::Fusion fusion_of(FusionPolicy policy) {
  switch (policy) {
    case FusionPolicy::Modelled:
      return search::Fusion::Modelled;
    case FusionPolicy::Always:
      return search::Fusion::Always;
    case FusionPolicy::Never:
      return search::Fusion::Never;
  }
  return search::Fusion::Modelled;
}

// The user's files and what custom ops bring, each op's once.
std::vector<search::RuleText> rules_of(const Graph& graph, const CompileOptions& options) {
  std::vector<search::RuleText> files;
  for (const RuleFile& file : options.rules) files.push_back({file.name, file.text});
  std::set<std::string> seen;
  for (NodeId id : topological_order(graph, roots(graph))) {
    const Node& node = graph.node(id);
    if (node.op != Op::Custom) continue;
    const CustomOp& op = *node.as<CustomAttr>().op;
    if (op.rules.empty() || !seen.insert(op.rules).second) continue;
    files.push_back({fmt::format("rules of custom op '{}'", op.name), op.rules});
  }
  return files;
}

static_assert(static_cast<int>(Numerics::Exact) == static_cast<int>(search::RuleClass::Exact));
static_assert(static_cast<int>(Numerics::Approximate) ==
              static_cast<int>(search::RuleClass::Approximate));

// Rules that found nothing aren't worth a line.
void report_rules(const egraph::RunReport& run, const search::RuleSet& rules,
                  CompileReport& report) {
  for (const egraph::RuleReport& rule : run.rules) {
    if (rule.matches == 0) continue;
    const search::RuleInfo* info = rules.find(rule.name);
    report.rules.push_back({rule.name, info->group, std::string(name(info->numeric_class)),
                            rule.matches, rule.new_tuples, rule.unions, rule.seconds});
  }
}

void saturate(search::Terms& terms, const search::Admission& admission, CompileReport& report) {
  Stopwatch watch;
  const egraph::RunReport run = search::saturate(terms, admission);
  if (run.stop != egraph::StopReason::Finished) {
    report.notes.push_back(fmt::format(
        "saturation stopped at a limit ({}): rule '{}' grew most; equal forms may be missing",
        egraph::name_of(run.stop), run.culprit));
  }
  report_rules(run, terms.rules, report);
  report.egraph_nodes = run.tuples;
  report.egraph_classes = run.classes;
  end_stage(report, "saturated", watch.seconds(),
            fmt::format("{} iterations, {} nodes, {} classes", run.iterations.size(), run.tuples,
                        run.classes),
            [&] { return terms.egraph.dump(); });
}

// Each step on the host is a slower path, or one that nothing fuses with.
void note_host_steps(const Graph& graph, const search::LoweredGraph& lowered,
                     const search::PlanRequest& request, CompileReport& report) {
  for (const search::HostNeed& step : request.host_steps) {
    const NodeId node = lowered.sources[static_cast<size_t>(step.source)].node;
    report.notes.push_back(
        brings_kernel(graph.node(node))
            ? fmt::format("{} runs its own kernel: nothing fuses with it", graph.describe(node))
            : fmt::format("{} runs on the host: no kernel computes {}; slower, and on one thread",
                          graph.describe(node), name(graph.node(node).op)));
  }
}

kernel::PackRequest pack_request(const Graph& graph, const std::vector<NodeId>& roots,
                                 const search::LoweredGraph& lowered,
                                 const search::PlanRequest& request,
                                 const kernel::PlannedGraph& planned,
                                 const kernel::Packing& packing, const CompileReport& report) {
  kernel::PackRequest result{
      .packing = packing,
      .is_weight = {},
      .results = {},
      .host_reads = {},
      .first_kernel = static_cast<int>(report.kernels.size() - report.n_packing())};
  for (const search::SourceTensor& source : lowered.sources) {
    const Node& node = graph.node(source.node);
    result.is_weight.push_back(!source.host_step && node.as<InputAttr>().role == Role::Weight);
  }
  for (NodeId root : roots) result.results.push_back(planned.class_of[root.index()]);
  for (const search::HostNeed& step : request.host_steps) {
    result.host_reads.insert(result.host_reads.end(), step.operands.begin(), step.operands.end());
  }
  return result;
}

// Says of each kernel whether a library computes it.
void mark_library(std::shared_ptr<kernel::PlannedGraph> planned, const kernel::PackRequest& request,
                  const ChooseLibrary& choose) {
  kernel::PlannedGraph packed = *planned;
  kernel::pack_weights(packed, request);
  std::vector<kernel::LibraryUse> uses = choose(planned, packed);
  size_t next = 0;
  for (auto& step : planned->plan.steps) {
    auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel != nullptr) kernel->library = std::move(uses[next++]);
  }
}

// "add ×2, exp2": what a kernel computes, in alphabetical order.
std::vector<std::string> ops_of(const kernel::TermGraph& terms, const search::ChosenTerms& chosen,
                                const kernel::LoweredKernel& lowered) {
  std::map<std::string, int> counts;
  for (kernel::ClassId id : lowered.classes) {
    // What was added since has one term.
    const auto term =
        id.index() < chosen.term.size() ? static_cast<size_t>(chosen.term[id.index()]) : 0;
    ++counts[kernel::describe(terms.at(id).terms[term])];
  }
  std::vector<std::string> ops;
  for (const auto& [op, count] : counts) {
    ops.push_back(count == 1 ? op : fmt::format("{} ×{}", op, count));
  }
  return ops;
}

void report_kernels(const kernel::PlannedGraph& planned, const search::ExtractedTerms& extracted,
                    const search::ChosenTerms& chosen, const search::SearchOptions& options,
                    CompileReport& report) {
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    KernelReport entry;
    entry.packs = !kernel->packs.empty();
    entry.name = entry.packs ? fmt::format("panels of {}", kernel->packs)
                             : fmt::format("kernel {}", report.kernels.size() - report.n_packing());
    entry.ops = ops_of(planned.terms, chosen, kernel->lowered);
    std::map<std::string, int> rules;
    for (kernel::ClassId id : kernel->lowered.classes) {
      if (entry.packs) break;
      for (const std::string& rule : extracted.rules[id.index()]) ++rules[rule];
    }
    for (const auto& [rule, count] : rules) entry.rules.push_back(rule);
    const kernel::Kernel& k = kernel->lowered.kernel;
    for (const kernel::Param& param : k.params) {
      if (!param.output) continue;
      entry.result += entry.result.empty() ? "" : ", ";
      entry.result += fmt::format("{}{}", name(param.dtype), text(param.dims));
    }
    entry.model_us = kernel->model_seconds * 1e6;
    auto number = [&](Expr e) {
      return static_cast<double>(e.evaluate(options.sizes).value.value_or(0));
    };
    entry.model_bytes = number(k.bytes_read) + number(k.bytes_written);
    entry.model_flops = number(k.flops);
    entry.text = kernel::text(k);
    entry.by_library = kernel->library.taken;
    entry.library = kernel->library.routine;
    entry.why_no_library = kernel->library.why_none;
    entry.own_us = kernel->library.own_seconds * 1e6;
    entry.library_us = kernel->library.library_seconds * 1e6;
    report.kernels.push_back(std::move(entry));
  }
}

}  // namespace

std::string plan_summary(const kernel::PlannedGraph& planned) {
  const auto kernels = static_cast<size_t>(planned.plan.n_kernels());
  return fmt::format("{} kernels, {} host steps", kernels, planned.plan.steps.size() - kernels);
}

std::string plan_text(const kernel::PlannedGraph& planned) {
  std::string out;
  for (const auto& step : planned.plan.steps) {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      out +=
          fmt::format("host {}\n", planned.terms.sources[static_cast<size_t>(host->source)].name);
    } else {
      out += kernel::text(std::get<kernel::KernelStep>(step).lowered.kernel);
    }
  }
  return out;
}

search::InspectOptions planning_options(const Graph& graph, const CompileOptions& options) {
  search::InspectOptions result;
  result.rules = rules_of(graph, options);
  result.admission = {static_cast<search::RuleClass>(options.numerics), options.disable_rules};
  result.search.fusion = fusion_of(options.fusion);
  result.search.seed = options.seed;
  // The machine's threads, not the option's: the plan, and with it the order of every sum, is the
  // same for any number of threads.
  result.search.machine.threads = static_cast<int>(base::usable_threads());
  result.search.sizes = search::representative_sizes(variables(graph), options.typical_sizes);
  return result;
}

int threads_of(const CompileOptions& options) {
  return options.threads > 0 ? options.threads : static_cast<int>(base::usable_threads());
}

void end_stage(CompileReport& report, const std::string& name, double seconds, std::string summary,
               const std::function<std::string()>& text) {
  report.stages.push_back({name, seconds, std::move(summary)});
  if (report.print_after == name || report.print_after == "all") {
    std::ostream& out = report.out != nullptr ? *report.out : std::cout;
    out << "; after " << name << "\n" << text();
  }
  if (report.stop_after == name) throw CompileStopped{name};
}

std::shared_ptr<const kernel::PlannedGraph> plan_graph(const Graph& graph,
                                                       const std::vector<NodeId>& roots,
                                                       const CompileOptions& options,
                                                       CompileReport& report,
                                                       std::optional<kernel::Packing> packing,
                                                       const ChooseLibrary& choose_library) {
  Stopwatch lowering;
  search::InspectOptions planning = planning_options(graph, options);
  search::Terms terms{search::RuleSet(std::move(planning.rules))};
  const search::LoweredGraph lowered = search::lower_graph(graph, roots, terms);
  end_stage(report, "terms", lowering.seconds(),
            fmt::format("{} nodes, {} classes", terms.egraph.tuples(), terms.egraph.classes()),
            [&] { return terms.egraph.dump(); });
  saturate(terms, planning.admission, report);

  Stopwatch searching;
  search::ExtractedTerms extracted = search::extract_terms(graph, lowered, terms);
  search::SearchOptions& search_options = planning.search;
  const search::ChosenTerms chosen = search::choose_terms(extracted.graph, search_options.sizes);
  const search::PlanRequest request = search::plan_request(graph, lowered, extracted, chosen);
  note_host_steps(graph, lowered, request, report);
  if (options.progress) {
    search_options.progress = [&](int tried) { options.progress({"plan", tried}); };
  }
  search::FoundPlan found = search::find_plan(extracted.graph, request, search_options);

  auto planned = std::make_shared<kernel::PlannedGraph>();
  planned->terms = std::move(extracted.graph);
  planned->plan = std::move(found.plan);
  planned->class_of = extracted.class_of;
  for (const search::SourceTensor& source : lowered.sources) {
    planned->source_nodes.push_back(source.node);
  }
  report.search_candidates = found.report.candidates;
  report.search_kernels = found.report.distinct_kernels;
  report.search_bits = found.report.live_bits;
  report.model_us = planned->plan.model_seconds * 1e6;
  report.notes.insert(report.notes.end(), found.report.notes.begin(), found.report.notes.end());
  // What was found is explained as it was found.
  std::vector<search::StoredValue> stored;
  if (options.report != nullptr) {
    stored =
        search::explain_plan(planned->terms, request, search_options, planned->plan, found.cut);
  }
  std::vector<search::AbsorbedValue> absorbed;
  if (report.find_rivals) {
    absorbed =
        search::explain_absorbed(planned->terms, request, search_options, planned->plan, found.cut);
  }
  if (packing) {
    const kernel::PackRequest packs =
        pack_request(graph, roots, lowered, request, *planned, *packing, report);
    if (choose_library) mark_library(planned, packs, choose_library);
    const std::vector<std::string> notes = kernel::pack_weights(*planned, packs);
    report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  }
  report_kernels(*planned, extracted, chosen, search_options, report);
  add_kernel_facts(graph, *planned, absorbed, search_options, report);
  report_stored(graph, *planned, stored, report);
  end_stage(report, "plan", searching.seconds(), plan_summary(*planned),
            [&] { return plan_text(*planned); });
  return planned;
}

}  // namespace luminal

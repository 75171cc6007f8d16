#include "luminal/driver/plan/planning.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <set>
#include <sstream>

#include "luminal/driver/fusion/decide_fusion.h"
#include "luminal/driver/options/backend_rules.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/driver/plan/planned_terms.h"
#include "luminal/driver/report/kernel_facts.h"
#include "luminal/driver/report/report_stored.h"
#include "luminal/driver/report/step_notes.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/kernel/plan/pack_weights.h"

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

// Those of the backend, the user's files, and what custom ops bring, each op's once.
std::vector<search::RuleText> rules_of(const Graph& graph, const CompileOptions& options) {
  std::vector<search::RuleText> files = backend_rules(options.backend);
  for (const RuleFile& file : options.plan.rules) files.push_back({file.name, file.text});
  std::set<std::string> seen;
  for (NodeId id : topological_order(graph, roots(graph))) {
    const Node& node = graph.node(id);
    if (node.op != Op::Custom) continue;
    const CustomOp& op = *node.as<CustomAttr>().op;
    if (op.rules.empty() || !seen.insert(op.rules).second) continue;
    files.push_back(
        {.file = "rules", .text = op.rules, .origin = {search::RuleOrigin::By::CustomOp, op.name}});
  }
  return files;
}

// Rules that found nothing aren't worth a line.
void report_rules(const egraph::RunReport& run, const search::RuleSet& rules,
                  CompileReport& report) {
  for (const egraph::RuleReport& rule : run.rules) {
    if (rule.matches == 0) continue;
    const search::RuleInfo* info = rules.find(rule.name);
    report.rules.push_back({.rule = rule.name,
                            .group = info->group,
                            .numeric_class = std::string(name(info->numeric_class)),
                            .origin = info->is_embedded() ? "" : info->place(),
                            .matches = rule.matches,
                            .new_nodes = rule.new_tuples,
                            .unions = rule.unions,
                            .seconds = rule.seconds});
  }
}

void saturate(search::RotationPlanner& planner, const InspectOptions& inspect,
              CompileReport& report) {
  Stopwatch watch;
  planner.saturate();
  const egraph::RunReport& run = planner.saturation();
  const search::RuleSet& rules = planner.terms().rules;
  if (run.stop != egraph::StopReason::Finished) {
    const search::RuleInfo* culprit = rules.find(run.culprit);
    const bool is_added = culprit != nullptr && !culprit->is_embedded();
    report.notes.push_back(
        fmt::format("saturation stopped at a limit ({}): rule '{}'{} added most nodes; equivalent "
                    "forms may be missing",
                    egraph::name_of(run.stop), run.culprit,
                    is_added ? fmt::format(" ({})", culprit->place()) : ""));
  }
  report_rules(run, rules, report);
  report.egraph_nodes = run.tuples;
  report.egraph_classes = run.classes;
  end_stage(inspect, report, "saturated", watch.seconds(),
            fmt::format("{} iterations, {} nodes, {} classes", run.iterations.size(), run.tuples,
                        run.classes),
            [&] { return planner.terms().egraph.dump(); });
}

// As rotation `taken` of `of`, from 0.
void report_rolled(const search::RotationPlanner& planner, double seconds, size_t taken, size_t of,
                   const InspectOptions& inspect, CompileReport& report) {
  if (planner.rolled() == nullptr) return;
  const std::string which = of > 1 ? fmt::format(", rotation {} of {}", taken + 1, of) : "";
  end_stage(inspect, report, "rolled", seconds, planner.rolled()->summary + which,
            [&] { return print_graph(*planner.rolled()->graph); });
  report.stages.back().rotation = taken;
}

// All stages of one planner, up to a plan.
void run_planner(search::RotationPlanner& planner, const InspectOptions& inspect,
                 CompileReport& report) {
  Stopwatch lowering;
  planner.lower();
  const egraph::EGraph& egraph = planner.terms().egraph;
  end_stage(inspect, report, "terms", lowering.seconds(),
            fmt::format("{} nodes, {} classes", egraph.tuples(), egraph.classes()),
            [&] { return egraph.dump(); });
  saturate(planner, inspect, report);
  planner.search();
}

// The planner of the rotation that the model finds cheapest, the first of equal ones. Its stages
// are reported as if there were no other; the time of the others counts as rolling.
search::RotationPlanner& best_rotation(std::vector<search::RotationPlanner>& planners,
                                       const Stopwatch& rolling, const InspectOptions& inspect,
                                       CompileReport& report) {
  if (planners.size() == 1 || !inspect.stop_after.empty()) {
    report_rolled(planners.front(), rolling.seconds(), 0, 1, inspect, report);
    run_planner(planners.front(), inspect, report);
    return planners.front();
  }
  std::vector<CompileReport> reports(planners.size());
  std::vector<std::ostringstream> texts(planners.size());
  std::vector<double> taken;
  size_t best = 0;
  for (size_t w = 0; w < planners.size(); ++w) {
    Stopwatch watch;
    run_planner(planners[w], {.print_after = inspect.print_after, .out = &texts[w]}, reports[w]);
    taken.push_back(watch.seconds());
    if (planners[w].model_seconds() < planners[best].model_seconds()) best = w;
  }
  report_rolled(planners[best], rolling.seconds() - taken[best], best, planners.size(), inspect,
                report);
  CompileReport& of_best = reports[best];
  if (inspect.out != nullptr || !inspect.print_after.empty()) {
    (inspect.out != nullptr ? *inspect.out : std::cout) << texts[best].str();
  }
  auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(report.stages, of_best.stages);
  append(report.rules, of_best.rules);
  append(report.notes, of_best.notes);
  report.egraph_nodes = of_best.egraph_nodes;
  report.egraph_classes = of_best.egraph_classes;
  return planners[best];
}

// Each host step is slow, or at least a boundary for fusion.
void note_host_steps(const Graph& graph, const search::PlannedTerms& terms, CompileReport& report) {
  for (const search::HostNeed& step : terms.host_steps) {
    const NodeId node = terms.sources[step.source].node;
    report.notes.push_back(
        brings_kernel(graph.node(node))
            ? fmt::format("{} runs its own kernel: nothing fuses with it", graph.describe(node))
            : fmt::format("{} runs on the host: no kernel computes {}; slower, and on one thread",
                          graph.describe(node), name(graph.node(node).op)));
  }
}

// Bytes of inputs, weights, states and results. What kernels hand over in between is in cache if
// these are.
double working_set(const Graph& graph, const Bindings& sizes) {
  double bytes = 0;
  const auto add = [&](NodeId id) {
    const Node& node = graph.node(id);
    const std::optional<int64_t> count = n_elements(node.dims).evaluate(sizes).value;
    bytes += static_cast<double>(count.value_or(0)) * bits(node.dtype) / 8;
  };
  for (NodeId id : graph.leaves()) add(id);
  for (NodeId id : roots(graph)) add(id);
  return bytes;
}

// Marks the kernels that a library computes.
void mark_library(std::shared_ptr<kernel::PlannedGraph> planned, const kernel::PackRequest& request,
                  const ChooseLibrary& choose) {
  kernel::PlannedGraph packed = *planned;
  kernel::pack_weights(packed, request);
  std::vector<kernel::LibraryChoice> uses = choose(planned, packed);
  size_t next = 0;
  for (auto& step : planned->plan.steps) {
    auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    kernel::LibraryChoice& use = uses[next++];
    if (use.taken) kernel->strategy = kernel::Strategy::Library;
    kernel->library = std::move(use);
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
      out += fmt::format("host {}\n", planned.terms.sources[host->source].name);
    } else {
      out += kernel::text(std::get<kernel::KernelStep>(step).lowered.kernel);
    }
  }
  return out;
}

search::PlanningOptions planning_options(const Graph& graph, const CompileOptions& options) {
  search::PlanningOptions result;
  result.rules = rules_of(graph, options);
  result.admission = {options.plan.numerics, options.plan.disable_rules};
  result.roll = options.plan.rolling;
  // Measured patterns are decided before the search.
  const bool by_model = options.plan.fusion == FusionPolicy::Measured;
  result.search.fusion = by_model ? FusionPolicy::Modelled : options.plan.fusion;
  result.search.sideways = merges_side_by_side(options.plan);
  result.search.seed = options.search.seed;
  result.search.sizes = search::representative_sizes(variables(graph), options.plan.typical_sizes);
  const machine::Peaks peaks = machine_peaks(options.storage, options.backend.target);
  result.search.machine = machine_model(peaks, working_set(graph, result.search.sizes));
  result.search.machine.calibration =
      find_calibration(options.storage, peaks, options.backend.target).calibration;
  result.fusing = fusion_forces(graph, options);
  return result;
}

void end_stage(const InspectOptions& inspect, CompileReport& report, const std::string& name,
               double seconds, std::string summary, const std::function<std::string()>& text) {
  report.stages.push_back({name, seconds, std::move(summary)});
  if (inspect.print_after == name || inspect.print_after == "all") {
    std::ostream& out = inspect.out != nullptr ? *inspect.out : std::cout;
    out << "; after " << name << "\n" << text();
  }
  if (inspect.stop_after == name) throw CompileStopped{name};
}

std::shared_ptr<const kernel::PlannedGraph> plan_graph(
    const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
    CompileReport& report, std::optional<kernel::Packing> packing,
    const ChooseLibrary& choose_library, const search::FindBetter& better) {
  Stopwatch rolling;
  search::PlanningOptions planning = planning_options(graph, options);
  if (options.progress) {
    planning.search.progress = [&](int tried) { options.progress({"plan", tried}); };
  }
  std::vector<search::RotationPlanner> planners = search::rotation_planners(graph, roots, planning);
  search::RotationPlanner& planner = best_rotation(planners, rolling, options.inspect, report);
  const bool explained = options.report != nullptr || better;
  planner.finish({.stored = explained, .absorbed = options.inspect.find_rivals}, better);
  Stopwatch finishing;
  search::PlannedTerms& terms = planner.planned();
  note_host_steps(graph, terms, report);

  const std::shared_ptr<kernel::PlannedGraph> planned = planned_graph(terms);
  report.search_candidates = planner.report().candidates;
  report.search_kernels = planner.report().distinct_kernels;
  report.search_bits = planner.report().live_bits;
  report.model_us = planned->plan.model_seconds * 1e6;
  report.notes.insert(report.notes.end(), planner.report().notes.begin(),
                      planner.report().notes.end());
  if (packing) {
    const auto first_kernel = static_cast<int>(report.kernels.size() - report.n_packing());
    const kernel::PackRequest packs =
        pack_request(graph, roots, terms, *planned, *packing, first_kernel);
    if (choose_library) mark_library(planned, packs, choose_library);
    const std::vector<std::string> notes = kernel::pack_weights(*planned, packs);
    report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  }
  report_kernels(*planned, terms, planning.search, report);
  add_kernel_facts(graph, *planned, terms.absorbed, report);
  if (terms.stored) report_stored(graph, *planned, *terms.stored, report);
  end_stage(options.inspect, report, "plan", planner.search_seconds() + finishing.seconds(),
            plan_summary(*planned), [&] { return plan_text(*planned); });
  return planned;
}

}  // namespace luminal

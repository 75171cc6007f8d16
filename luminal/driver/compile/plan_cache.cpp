#include "luminal/driver/compile/plan_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/base/digest.h"
#include "luminal/driver/measure/plan_tuner.h"
#include "luminal/driver/plan/plan_key.h"
#include "luminal/driver/report/report_bytes.h"
#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/kernel/plan/verify_plan.h"

namespace luminal {
namespace {

// A plan that was found, with its part of a report.
struct KeptPlan {
  std::shared_ptr<const kernel::PlannedGraph> planned;
  std::string_view report;
};

std::string entry_of(std::string_view key, std::string_view report,
                     const kernel::PlannedGraph& planned) {
  shape::ExprWriter plan;
  kernel::write_plan(plan, planned);
  base::ByteWriter entry;
  entry.text(key);
  entry.text(report);
  entry.text(plan.bytes());
  return entry.bytes();
}

// Throws, any exception, if the entry isn't valid for this key and graph.
KeptPlan read_entry(std::string_view entry, std::string_view key, const Graph& graph,
                    const std::vector<NodeId>& roots) {
  base::ByteReader in(entry);
  if (in.text() != key) throw base::ByteError("it has another key");
  const std::string_view report = in.text();
  shape::ExprReader plan(in.text());
  in.finish();
  auto planned = std::make_shared<kernel::PlannedGraph>(kernel::read_plan(plan));
  plan.in.finish();
  if (const std::string why = kernel::verify_plan(*planned, graph, roots); !why.empty()) {
    throw base::ByteError(why);
  }
  base::ByteReader report_in(report);
  CompileReport alone;
  read_report(report_in, alone);
  report_in.finish();
  if (static_cast<int>(alone.kernels.size()) != planned->plan.n_kernels()) {
    throw base::ByteError("its report lists another number of kernels");
  }
  return {.planned = std::move(planned), .report = report};
}

bool has_custom_ops(const Graph& graph) {
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (!node.removed && node.op == Op::Custom) return true;
  }
  return false;
}

// Whether a stage that only planning has is to be printed, or to be the last.
bool wants_stages(const InspectOptions& inspect) {
  constexpr std::string_view kStages[] = {"rolled", "terms", "saturated", "all"};
  return std::any_of(std::begin(kStages), std::end(kStages), [&](std::string_view stage) {
    return inspect.print_after == stage || inspect.stop_after == stage;
  });
}

// `from` names where the plan was found.
void report_kept(const KeptPlan& kept, const std::string& from, double seconds, bool with_texts,
                 const InspectOptions& inspect, CompileReport& report) {
  const kernel::Plan& plan = kept.planned->plan;
  size_t next = report.kernels.size();
  base::ByteReader in(kept.report);
  read_report(in, report);
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    if (with_texts) report.kernels[next].text = kernel::text(kernel->lowered.kernel);
    ++next;
  }
  end_stage(inspect, report, "plan", seconds,
            fmt::format("{}, from {}", plan_summary(*kept.planned), from),
            [&] { return plan_text(*kept.planned); });
}

void note_tuner(const PlanTuner& tuner, CompileReport& report) {
  const std::vector<std::string> notes = tuner.notes();
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
}

}  // namespace

std::shared_ptr<const kernel::PlannedGraph> PlanCache::plan(
    const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
    CompileReport& report, std::optional<kernel::Packing> packing,
    const ChooseLibrary& choose_library, PlanTuner* tuner) {
  if (tuner != nullptr) {
    return plan_tuned(graph, roots, options, report, packing, choose_library, *tuner);
  }
  const bool is_kept = !files_.folder().empty() && !choose_library && !has_custom_ops(graph);
  if (!is_kept || wants_stages(options.inspect)) {
    return plan_graph(graph, roots, options, report, packing, choose_library);
  }
  const auto start = std::chrono::steady_clock::now();
  const search::PlanningOptions planning = planning_options(graph, options);
  const std::string key = plan_key({.place = place_of(options.backend),
                                    .graph = graph,
                                    .roots = roots,
                                    .planning = planning,
                                    .packing = packing,
                                    .explained = options.report != nullptr,
                                    .with_rivals = options.inspect.find_rivals,
                                    .first_kernel = report.kernels.size() - report.n_packing()});
  const std::string name = base::digest(key);
  if (const std::optional<std::string> entry = files_.find(name)) {
    std::optional<KeptPlan> kept;
    try {
      kept = read_entry(*entry, key, graph, roots);
    } catch (const std::exception& error) {
      report.notes.push_back(fmt::format("the plan in {}/{}{} is not used: {}; it was made again",
                                         files_.folder().string(), name, base::kCachedPlans.ending,
                                         error.what()));
    }
    if (kept) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      const std::string from =
          fmt::format("the cache ({}…{})", name.substr(0, 12), base::kCachedPlans.ending);
      report_kept(*kept, from, taken.count(), options.report != nullptr, options.inspect, report);
      return kept->planned;
    }
  }
  const ReportMark mark(report);
  auto planned = plan_graph(graph, roots, options, report, packing, choose_library);
  base::ByteWriter added;
  write_report(added, report, mark);
  const std::string entry = entry_of(key, added.bytes(), *planned);
  try {
    // Only an entry that reads back as itself is stored.
    const KeptPlan again = read_entry(entry, key, graph, roots);
    if (entry_of(key, again.report, *again.planned) != entry) {
      throw base::ByteError("it reads back as another plan");
    }
    files_.store(name, entry);
  } catch (const std::exception& error) {
    report.notes.push_back(fmt::format("the plan is not kept: {}", error.what()));
  }
  return planned;
}

std::shared_ptr<const kernel::PlannedGraph> PlanCache::plan_tuned(
    const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
    CompileReport& report, std::optional<kernel::Packing> packing,
    const ChooseLibrary& choose_library, PlanTuner& tuner) {
  const auto start = std::chrono::steady_clock::now();
  const search::PlanningOptions planning = planning_options(graph, options);
  PlanQuestion asked{.place = place_of(options.backend),
                     .graph = graph,
                     .roots = roots,
                     .planning = planning,
                     .packing = packing,
                     .explained = true,
                     .with_rivals = false,
                     .first_kernel = 0};
  std::optional<std::string> question;
  if (!has_custom_ops(graph)) question = plan_key(asked);
  // Whether a library is used depends on the compiling process, and requested stages must be run.
  const bool is_kept = question && !choose_library && !wants_stages(options.inspect);
  asked.with_rivals = options.inspect.find_rivals;
  asked.first_kernel = report.kernels.size() - report.n_packing();
  const std::string key = is_kept ? plan_key(asked) : "";
  const auto search = [&] {
    return plan_graph(graph, roots, options, report, packing, choose_library,
                      [&](const search::SearchedTerms& terms, const search::FoundPlan& first) {
                        return tuner.improve(terms, first, question, report);
                      });
  };
  const auto keep = [&](const ReportMark& mark, const kernel::PlannedGraph& planned) {
    base::ByteWriter added;
    write_report(added, report, mark);
    tuner.keep(*question, entry_of(key, added.bytes(), planned));
  };
  if (is_kept) {
    const ReportMark mark(report);
    try {
      if (const std::optional<TunedPlan> tuned = tuner.remembered(*question)) {
        if (tuned->is_own) {
          const KeptPlan kept = read_entry(tuned->entry, key, graph, roots);
          const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
          report_kept(kept, "the tuning records", taken.count(), options.report != nullptr,
                      options.inspect, report);
          if (!report.searches.empty()) report.searches.back().mode = "remembered";
          return kept.planned;
        }
        tuner.derive_again(*tuned);
        auto planned = search();
        keep(mark, *planned);
        note_tuner(tuner, report);
        return planned;
      }
    } catch (const std::exception& error) {
      mark.forget_since(report);
      tuner.search_anew();
      report.notes.push_back(
          fmt::format("the plan in the tuning records is not used: {}; it is searched again, with "
                      "the recorded times of its kernels",
                      error.what()));
    }
  }
  const ReportMark mark(report);
  auto planned = search();
  if (is_kept) keep(mark, *planned);
  note_tuner(tuner, report);
  return planned;
}

}  // namespace luminal

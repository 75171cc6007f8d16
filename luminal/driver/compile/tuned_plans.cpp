#include "luminal/driver/compile/tuned_plans.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "luminal/base/seconds_since.h"
#include "luminal/driver/measure/recorded_plan.h"

namespace luminal {
namespace {

// The keys under which a plan is recorded. `question` is the same for all compiles that the plan
// answers. `entry` also has what only its report depends on: the number of the first kernel, and
// whether alternatives are listed.
struct TunedKeys {
  std::string question;
  std::string entry;
};

TunedKeys keys_of(const PlanAsked& asked) {
  const bool with_rivals = asked.options.inspect.find_rivals;
  TunedKeys keys{.question = key_of(asked, true, false, 0), .entry = {}};
  const bool same = !with_rivals && asked.first_kernel() == 0;
  keys.entry = same ? keys.question : key_of(asked, true, with_rivals, asked.first_kernel());
  return keys;
}

void note_tuner(const PlanTuner& tuner, CompileReport& report) {
  const std::vector<std::string> notes = tuner.notes();
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
}

std::shared_ptr<const kernel::PlannedGraph> searched_now(
    const PlanAsked& asked, PlanTuner& tuner, const std::optional<std::string>& question) {
  return plan_graph(asked.graph, asked.roots, asked.options, asked.report, asked.packing,
                    asked.choose_library,
                    [&](const search::SearchedTerms& terms, const search::FoundPlan& first) {
                      return tuner.improve(terms, first, question, asked.report);
                    });
}

void keep_tuned(const PlanAsked& asked, PlanTuner& tuner, const TunedKeys& keys,
                const ReportMark& mark, const kernel::PlannedGraph& planned) {
  const bool kept = tuner.keep(keys.question, entry_of(keys.entry, asked.report, mark, planned));
  if (!asked.report.searches.empty()) asked.report.searches.back().recorded = kept;
}

// A plan that this user recorded, for exactly this compile. Throws if it can't be read.
std::shared_ptr<const kernel::PlannedGraph> take_tuned(const PlanAsked& asked,
                                                       const TunedPlan& tuned,
                                                       const TunedKeys& keys, double seconds) {
  const KeptPlan kept = read_entry(tuned.entry, keys.entry, asked.graph, asked.roots);
  report_kept(kept, fmt::format("the tuning records, found by a search of {:.3g} s", tuned.seconds),
              seconds, asked);
  if (!asked.report.searches.empty()) {
    SearchReport& search = asked.report.searches.back();
    search.mode = "remembered";
    search.budget = tuned.seconds;
    search.recorded = true;
  }
  return kept.planned;
}

// The plan that a search found before. Throws if it can't be used.
std::shared_ptr<const kernel::PlannedGraph> found_before(
    const PlanAsked& asked, const TunedPlan& tuned, const TunedKeys& keys,
    const std::function<PlanTuner&()>& tuner_of, std::chrono::steady_clock::time_point start) {
  // This user's own plan, but for another report or with stages to show, is derived from recorded
  // times as others' plans are.
  const bool is_this = tuned.is_own && has_key(tuned.entry, keys.entry);
  if (is_this && !wants_stages(asked.options.inspect)) {
    return take_tuned(asked, tuned, keys, base::seconds_since(start));
  }
  const ReportMark mark(asked.report);
  PlanTuner& tuner = tuner_of();
  tuner.derive_again(tuned);
  auto planned = searched_now(asked, tuner, keys.question);
  if (!tuned.is_own) keep_tuned(asked, tuner, keys, mark, *planned);
  if (tuned.is_own && !asked.report.searches.empty()) {
    asked.report.searches.back().recorded = true;
  }
  note_tuner(tuner, asked.report);
  return planned;
}

}  // namespace

std::shared_ptr<const kernel::PlannedGraph> searched_plan(const PlanAsked& asked,
                                                          PlanTuner& tuner) {
  const auto start = std::chrono::steady_clock::now();
  CompileReport& report = asked.report;
  std::optional<TunedKeys> keys;
  if (!has_custom_ops(asked.graph)) keys = keys_of(asked);
  const std::optional<std::string> question = keys ? std::optional(keys->question) : std::nullopt;
  // Whether a library is used depends on the compiling process, and requested stages must be run.
  const bool is_kept = keys && !asked.choose_library && !wants_stages(asked.options.inspect);
  if (is_kept) {
    const ReportMark mark(report);
    try {
      if (const std::optional<TunedPlan> tuned = tuner.remembered(*question)) {
        return found_before(asked, *tuned, *keys, [&]() -> PlanTuner& { return tuner; }, start);
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
  auto planned = searched_now(asked, tuner, question);
  if (is_kept) keep_tuned(asked, tuner, *keys, mark, *planned);
  note_tuner(tuner, report);
  return planned;
}

std::shared_ptr<const kernel::PlannedGraph> recorded_plan(const PlanAsked& asked,
                                                          const backends::Backend& backend,
                                                          const backends::LoadOptions& load) {
  const auto start = std::chrono::steady_clock::now();
  if (asked.choose_library || has_custom_ops(asked.graph)) return nullptr;
  const auto file = existing_records(asked.options.storage);
  if (!file) return nullptr;
  const TunedKeys keys = keys_of(asked);
  const RecordedPlan found = recorded_plan(*file, load, keys.question);
  CompileReport& report = asked.report;
  if (!found.note.empty()) report.notes.push_back(found.note);
  if (!found.plan) return nullptr;
  const ReportMark mark(report);
  try {
    std::optional<PlanTuner> tuner;
    return found_before(
        asked, *found.plan, keys,
        [&]() -> PlanTuner& {
          return tuner.emplace(asked.graph, asked.roots, backend, load, asked.options.search,
                               asked.options.storage, asked.options.progress);
        },
        start);
  } catch (const std::exception& error) {
    mark.forget_since(report);
    report.notes.push_back(fmt::format(
        "the plan in the tuning records is not used, but the cost model's: {}; `luminal "
        "tune` searches this graph again",
        error.what()));
    return nullptr;
  }
}

}  // namespace luminal

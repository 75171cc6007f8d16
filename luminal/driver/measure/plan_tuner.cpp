#include "luminal/driver/measure/plan_tuner.h"
#include "luminal/driver/options/machine_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/base/byte_stream.h"
#include "luminal/base/errors.h"
#include "luminal/base/seconds_since.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/base/text/json_text.h"
#include "luminal/driver/measure/record_memory.h"
#include "luminal/driver/measure/run_timer.h"
#include "luminal/records/device.h"

namespace luminal {
namespace {

std::string json_of(const search::SearchEvent& event) {
  base::JsonText json;
  json.begin_object(base::JsonText::Layout::OnOneLine);
  json.field("event", event.kind);
  json.field("text", event.text);
  json.field("candidates", event.candidates);
  json.field("kernels", event.kernels);
  json.field("best_us", event.best_seconds * 1e6);
  json.field("bound_share", event.bound_share);
  json.end_object();
  return json.text();
}

std::string time_text(double seconds) {
  return seconds < 0.01 ? fmt::format("{:.1f} µs", seconds * 1e6)
                        : fmt::format("{:.2f} ms", seconds * 1e3);
}

// The share of the budget for comparing its result with that of an earlier search.
constexpr double kDefending = 0.1;

records::Device device_of(const StorageOptions& storage, const backends::LoadOptions& load) {
  records::Device device = records::this_device(load.target, load.threads);
  const machine::Peaks peaks = machine_peaks(storage, load.target);
  if (peaks.origin == machine::PeaksOrigin::Measured) device.peaks = to_json(peaks);
  return device;
}

}  // namespace

PlanTuner::PlanTuner(const Graph& graph, const std::vector<NodeId>& roots,
                     const backends::Backend& backend, const backends::LoadOptions& load,
                     const PlanSearch& asked, const StorageOptions& storage,
                     const ShowProgress& progress)
    : graph_(graph),
      roots_(roots),
      backend_(backend),
      load_(load),
      asked_(asked),
      progress_(progress),
      device_(device_of(storage, load)),
      store_(storage.records, device_,
             {.required = asked.mode == SearchMode::Replay,
              .keep_busy = asked.keep_busy_times,
              .or_reading = asked.mode == SearchMode::Recorded}) {
  if (load_.cache_folder.empty() && asked.mode == SearchMode::Measured) {
    load_.cache_folder = cache_.emplace().path();
  }
}

records::PlanKey PlanTuner::key_of(const std::string& question) const {
  return {.question = question,
          .device = device_.fingerprint,
          .compiler = std::string(base::source_fingerprint())};
}

std::optional<TunedPlan> PlanTuner::remembered(const std::string& question) {
  if (asked_.mode == SearchMode::Replay) return std::nullopt;
  std::optional<TunedPlan> plan = store_.plan(key_of(question));
  const bool enough =
      plan && plan->seconds >= asked_.seconds && plan->candidates >= asked_.candidates;
  return enough ? std::move(plan) : std::nullopt;
}

search::MeasuredOptions PlanTuner::search_options(const std::optional<std::string>& question) {
  search::MeasuredOptions options{.seconds = asked_.seconds,
                                  .candidates = asked_.candidates,
                                  .finalists = asked_.finalists,
                                  .replay = {},
                                  .stop = asked_.stop,
                                  .event = {}};
  if (asked_.mode == SearchMode::Replay) {
    if (!question) {
      throw UserError(
          "replay: a graph with custom ops can't be replayed: their code can't be compared with "
          "the recorded search's");
    }
    std::optional<TunedPlan> plan;
    try {
      plan = store_.plan(key_of(*question));
    } catch (const base::ByteError& error) {
      throw UserError(
          fmt::format("replay: what {} holds of this graph can't be read: {}; compile with "
                      "--search measured to search it again",
                      store_.file(), error.what()));
    }
    if (!plan) {
      throw UserError(fmt::format(
          "replay: {} has no search of this graph on this device ({}) by this compiler; compile "
          "with --search measured first, or import records that have it (luminal tune import)",
          store_.file(), device_.description));
    }
    options.replay = plan->trail;
  } else if (derived_) {
    options.replay = derived_->trail;
  }
  // The search may have been asked for more finalists than this compile.
  if (options.replay) {
    options.finalists = std::max(options.finalists, options.replay->comparisons);
  }
  options.choices = [this](const kernel::KernelStep& step) {
    return backend_.candidates(step, load_);
  };
  if (asked_.events || progress_) {
    const bool is_timed = !options.replay;
    options.event = [this, is_timed](const search::SearchEvent& event) {
      if (asked_.events) asked_.events(json_of(event));
      if (!progress_) return;
      progress_(
          {"search", event.candidates, 0, progress_text(event),
           is_timed ? std::max(0.0, asked_.seconds - base::seconds_since(budget_start_)) : -1});
    };
  }
  return options;
}

std::string PlanTuner::progress_text(const search::SearchEvent& event) const {
  return fmt::format("best {}, {:.0f} % of the roofline, {} plans, {} kernels timed",
                     time_text(event.best_seconds), event.bound_share * 100, event.candidates,
                     event.kernels);
}

// Replays it, so that nothing is taken from the records but times.
std::optional<PlanTuner::Earlier> PlanTuner::earlier(const search::SearchedTerms& terms,
                                                     const search::FoundPlan& first,
                                                     const std::optional<std::string>& question,
                                                     search::MeasuredOptions options,
                                                     search::SearchMemory& memory) {
  if (asked_.mode != SearchMode::Measured || derived_ || !question) return std::nullopt;
  try {
    const std::optional<TunedPlan> plan = store_.plan(key_of(*question));
    if (!plan) return std::nullopt;
    options.replay = plan->trail;
    options.finalists = std::max(options.finalists, plan->trail.comparisons);
    options.event = {};
    return Earlier{.found = search::measured_search(terms, first, options, nullptr, memory),
                   .trail = plan->trail};
  } catch (const UserError&) {
    return std::nullopt;  // times of it were pruned: the search starts from the model's plan
  } catch (const base::ByteError&) {
    return std::nullopt;
  }
}

// Two searches may end with different plans, both faster than the model's, of which the later one
// is the slower: so the earlier one's plan stays unless the later one's is clearly faster.
void PlanTuner::defend(Earlier earlier, search::MeasuredPlan& found, search::PlanTimer& timer,
                       search::SearchMemory& memory) {
  const std::string& champion = earlier.trail.champion;
  const std::string& challenger = found.report.trail.champion;
  if (champion == challenger) return;
  std::string why = "it was interrupted before they were compared";
  if (!found.report.interrupted) {
    std::optional<records::Comparison> known = memory.comparison(champion, challenger);
    if (!known) {
      known = timer.compare(earlier.found.plan.found.plan, found.plan.found.plan,
                            asked_.seconds * kDefending);
      known->champion = champion;
      known->challenger = challenger;
      ++found.report.compared;
      memory.remember(*known);
    }
    if (known->high < 1) return;
    why = fmt::format("this one's takes {:.3f}× ({:.3f} … {:.3f}) as long", known->ratio,
                      known->low, known->high);
  }
  search::MeasuredReport& before = earlier.found.report;
  found.plan = std::move(earlier.found.plan);
  found.report.trail = earlier.trail;
  found.report.best_seconds = before.best_seconds;
  found.report.bound_seconds = before.bound_seconds;
  found.report.notes.push_back("the plan of the earlier search stays: " + why);
}

search::BetterPlan PlanTuner::improve(const search::SearchedTerms& terms,
                                      const search::FoundPlan& first,
                                      const std::optional<std::string>& question,
                                      CompileReport& report) {
  const auto start = std::chrono::steady_clock::now();
  const search::MeasuredOptions options = search_options(question);
  RecordMemory memory(store_, device_, question ? std::optional(key_of(*question)) : std::nullopt);
  std::optional<RunTimer> timer;
  if (!options.replay) {
    timer.emplace(
        terms, graph_, roots_, backend_, load_,
        TimerOptions{.warm_ups = asked_.warm_ups, .trials = asked_.trials, .seed = asked_.seed});
  }
  std::optional<Earlier> before = earlier(terms, first, question, options, memory);
  budget_start_ = std::chrono::steady_clock::now();
  search::MeasuredPlan found =
      search::measured_search(terms, first, options, timer ? &*timer : nullptr, memory);
  if (before) defend(std::move(*before), found, *timer, memory);
  trail_ = found.report.trail;
  // An interrupted search is recorded with the budget it used, not the one it was given.
  interrupted_ = found.report.interrupted;
  seconds_ = interrupted_ ? found.report.seconds : asked_.seconds;
  candidates_ = interrupted_ ? found.report.candidates : asked_.candidates;
  report.searches.push_back({.mode = derived_         ? "remembered"
                                     : options.replay ? "replay"
                                                      : "measured",
                             .budget = derived_ ? derived_->seconds : seconds_,
                             .recorded = false,
                             .seconds = base::seconds_since(start),
                             .candidates = found.report.candidates,
                             .timed = found.report.timed,
                             .remembered = found.report.remembered,
                             .compared = found.report.compared,
                             .first_us = found.report.first_seconds * 1e6,
                             .best_us = found.report.best_seconds * 1e6,
                             .bound_us = found.report.bound_seconds * 1e6,
                             .stopped = std::move(found.report.stopped),
                             .comparisons = std::move(found.report.notes)});
  return std::move(found.plan);
}

bool PlanTuner::keep(const std::string& question, std::string entry) {
  if (asked_.mode == SearchMode::Replay) return true;
  if (interrupted_) {
    // A record of a longer search stays.
    try {
      const std::optional<TunedPlan> known = store_.plan(key_of(question));
      if (known && known->is_own && known->seconds >= seconds_) return true;
    } catch (const base::ByteError&) {
      // Not a plan: it is replaced.
    }
  }
  return store_.put_plan(key_of(question),
                         {.seconds = derived_ ? derived_->seconds : seconds_,
                          .candidates = derived_ ? derived_->candidates : candidates_,
                          .trail = trail_,
                          .entry = std::move(entry)});
}

}  // namespace luminal

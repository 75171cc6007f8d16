#include "luminal/driver/measure/plan_tuner.h"
#include "luminal/driver/options/machine_peaks.h"

#include <fmt/format.h>

#include <chrono>

#include "luminal/base/byte_stream.h"
#include "luminal/base/errors.h"
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

std::string progress_text(const search::SearchEvent& event) {
  return fmt::format("{} candidates, {} kernels, best {:.1f} µs, {:.0f} % of the bound",
                     event.candidates, event.kernels, event.best_seconds * 1e6,
                     event.bound_share * 100);
}

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
      store_(storage.records, device_, asked.mode == SearchMode::Replay, asked.keep_busy_times) {
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
  options.choices = [this](const kernel::KernelStep& step) {
    return backend_.candidates(step, load_);
  };
  if (asked_.events || progress_) {
    options.event = [this](const search::SearchEvent& event) {
      if (asked_.events) asked_.events(json_of(event));
      if (progress_) progress_({"search", event.candidates, 0, progress_text(event)});
    };
  }
  return options;
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
  search::MeasuredPlan found =
      search::measured_search(terms, first, options, timer ? &*timer : nullptr, memory);
  trail_ = found.report.trail;
  // An interrupted search is recorded with the budget it used, not the one it was given.
  interrupted_ = found.report.interrupted;
  seconds_ = interrupted_ ? found.report.seconds : asked_.seconds;
  candidates_ = interrupted_ ? found.report.candidates : asked_.candidates;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  report.searches.push_back({.mode = derived_         ? "remembered"
                                     : options.replay ? "replay"
                                                      : "measured",
                             .seconds = taken.count(),
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

void PlanTuner::keep(const std::string& question, std::string entry) {
  if (asked_.mode == SearchMode::Replay) return;
  if (interrupted_) {
    // A record of a longer search stays.
    try {
      const std::optional<TunedPlan> known = store_.plan(key_of(question));
      if (known && known->is_own && known->seconds >= seconds_) return;
    } catch (const base::ByteError&) {
      // Not a plan: it is replaced.
    }
  }
  store_.put_plan(key_of(question), {.seconds = derived_ ? derived_->seconds : seconds_,
                                     .candidates = derived_ ? derived_->candidates : candidates_,
                                     .trail = trail_,
                                     .entry = std::move(entry)});
}

}  // namespace luminal

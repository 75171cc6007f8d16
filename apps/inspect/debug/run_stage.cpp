// The stage run: runs each kernel separately under check, then the program as usual; a difference
// between the two is a fault of memory or order, not of a kernel.
#include <fmt/format.h>

#include <algorithm>

#include "apps/inspect/debug/experiments.h"
#include "apps/inspect/debug/stages.h"

namespace luminal::debug {
namespace {

using Watch = Trial::Watch;

void add_steps(const Trial& trial, const TrialRun& run, DebugStage& stage) {
  for (const SeenStep& step : run.steps) {
    for (const SeenTensor& param : step.params) {
      if (!param.output) continue;
      Finding seen = Finding{}
                         .add("step", trial.step_name(step.step))
                         .add("result", param.type)
                         .add("values", param.digest)
                         .add("largest", fmt::format("{:.6g}", param.numbers.largest));
      if (param.numbers.n_nan > 0) seen.add("nan", std::to_string(param.numbers.n_nan));
      if (param.numbers.n_infinite > 0) {
        seen.add("infinite", std::to_string(param.numbers.n_infinite));
      }
      stage.seen.push_back(std::move(seen));
    }
  }
}

void blame_overwritten(const Subject& subject, const Trial& trial, const Overwritten& seen,
                       DebugStage& stage) {
  (void)subject;
  const std::string writer =
      seen.writer.valid() ? "the result of " + trial.step_name(seen.writer) : "a leaf";
  stage.blame("overwritten")
      .add("kernel", trial.step_name(seen.reader))
      .add("ops", trial.notes().steps[seen.reader].ops)
      .add("culprit", seen.culprit.valid() ? trial.step_name(seen.culprit) : "")
      .add("why", fmt::format("its parameter {} is {}, and changed before it was read{}",
                              seen.param.value, writer,
                              seen.culprit.valid()
                                  ? "; " + trial.step_name(seen.culprit) + " wrote into its memory"
                                  : ""))
      .add("way_out",
           std::string(
               "look at the lifetimes of buffers, and at which steps may reuse their memory"));
}

// The first step whose results differ although its inputs are equal; null if there is none.
const SeenStep* first_difference(const TrialRun& a, const TrialRun& b, kernel::ParamId& param) {
  const auto same = [](const SeenTensor& x, const SeenTensor& y) { return x.digest == y.digest; };
  for (size_t s = 0; s < std::min(a.steps.size(), b.steps.size()); ++s) {
    const auto& ours = a.steps[s].params;
    const auto& theirs = b.steps[s].params;
    for (kernel::ParamId p : ours.ids()) {
      if (!theirs.has(p) || same(ours[p], theirs[p])) continue;
      param = p;
      return &b.steps[s];
    }
  }
  return nullptr;
}

// A step that is correct with memory of its own, and wrong in the planned memory.
bool check_memory(const Trial& trial, const TrialRun& checked, const TrialRun& planned,
                  DebugStage& stage) {
  kernel::ParamId param;
  const SeenStep* step = first_difference(checked, planned, param);
  if (step == nullptr) return true;
  const SeenTensor& seen = step->params[param];
  Finding& cause = stage.blame(seen.shares.valid() ? "wrong-in-place" : "not-repeatable");
  cause.add("kernel", trial.step_name(step->step)).add("ops", trial.notes().steps[step->step].ops);
  if (seen.shares.valid()) {
    cause
        .add("why", fmt::format("its result shares the memory of its parameter {}, and differs "
                                "from the result in memory of its own",
                                seen.shares.value))
        .add("way_out",
             std::string("look at whether each iteration reads only the elements that it writes"));
  } else {
    cause.add("why", std::string("it computes another result from the same values"))
        .add("way_out", std::string("look for memory that it reads before it is written"));
  }
  return false;
}

bool check_side_by_side(const Subject& subject, const Trial& trial, const TrialRun& one_by_one,
                        const TrialRun& together, DebugStage& stage) {
  for (size_t r = 0; r < std::min(one_by_one.results.size(), together.results.size()); ++r) {
    const TensorData &a = one_by_one.results[r], &b = together.results[r];
    if (std::ranges::equal(a.bytes, b.bytes)) continue;
    stage.blame("wrong-side-by-side")
        .add("op", subject.graph->describe(trial.results()[r]))
        .add(
            "why",
            std::string(
                "running the steps one by one gives another result than running them concurrently"))
        .add("way_out",
             std::string("look at which steps share a launch: one of them depends on another"));
    return false;
  }
  return true;
}

bool has_nan(const TrialRun& run) {
  for (const SeenStep& step : run.steps) {
    for (const SeenTensor& param : step.params) {
      if (param.output && param.numbers.n_nan > 0) return true;
    }
  }
  return false;
}

bool has_infinite_result(const TrialRun& run) {
  return std::ranges::any_of(
      run.results, [](const TensorData& data) { return numbers_of(data).n_infinite > 0; });
}

// Names the first kernel with such a value, if there are too many ops to check each.
void blame_numbers(const Subject& subject, const Trial& trial, const TrialRun& run, Wanted wanted,
                   DebugStage& stage) {
  const std::optional<BadElement> made = first_made(subject, wanted);
  Finding& cause = stage.blame(wanted == Wanted::NaN ? "nan-from-op" : "infinity-from-op");
  for (const SeenStep& step : run.steps) {
    const bool has = std::ranges::any_of(step.params, [&](const SeenTensor& param) {
      return param.output &&
             (wanted == Wanted::NaN ? param.numbers.n_nan : param.numbers.n_infinite) > 0;
    });
    if (!has) continue;
    cause.add("kernel", trial.step_name(step.step)).add("ops", trial.notes().steps[step.step].ops);
    break;
  }
  if (made) {
    cause.add("op", subject.graph->describe(made->node))
        .add("element", made->element)
        .add("found", made->found)
        .add("why", made->why);
  } else {
    cause.add("why", std::string("the graph is too large to check each op; the kernel is the first "
                                 "that produces such a value"));
  }
  cause.add("way_out", std::string("look at what the op is given there"));
}

}  // namespace

bool look_at_run(const Subject& subject, Trial& trial, DebugReport& report) {
  DebugStage& stage = report.begin("run", subject.plan);
  const TrialRun checked = trial.run(Watch::Checked);
  add_steps(trial, checked, stage);
  stage.summary = fmt::format("{} steps, each against its loops{}", checked.steps.size(),
                              interpreted_elements(subject) <= subject.most_operations
                                  ? " and the graph"
                                  : "; the graph is too large to interpret");
  if (checked.overwritten) {
    const TrialRun planned = trial.run(Watch::Steps);
    blame_overwritten(subject, trial, planned.overwritten.value_or(*checked.overwritten), stage);
    return false;
  }
  if (checked.fault) {
    blame_kernel(subject, trial, *checked.fault, stage);
    return false;
  }
  if (!checked.error.empty()) {
    stage.blame("run-failed").add("why", checked.error);
    return false;
  }
  const TrialRun planned = trial.run(Watch::Steps);
  if (planned.overwritten) {
    blame_overwritten(subject, trial, *planned.overwritten, stage);
    return false;
  }
  if (!check_memory(trial, checked, planned, stage)) return false;
  const TrialRun together = trial.run(Watch::No);
  if (!check_side_by_side(subject, trial, planned, together, stage)) return false;
  if (has_nan(checked)) {
    blame_numbers(subject, trial, checked, Wanted::NaN, stage);
  } else if (has_infinite_result(planned)) {
    blame_numbers(subject, trial, checked, Wanted::Infinity, stage);
  }
  return stage.causes.empty();
}

}  // namespace luminal::debug

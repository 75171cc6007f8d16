// The stages plan and code: kernels in order, what they read, and what they were compiled to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <set>

#include "apps/inspect/debug/stages.h"
#include "luminal/base/digest.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/ir/verify_kernel.h"
#include "luminal/kernel/plan/verify_plan.h"

namespace luminal::debug {
namespace {

using kernel::KernelStep;

// By class: the step that stores it. If two steps do, the first.
std::map<kernel::ClassId, kernel::StepId> stored_at(const kernel::Plan& plan) {
  std::map<kernel::ClassId, kernel::StepId> steps;
  for (kernel::StepId s : plan.step_ids()) {
    const auto* kernel = std::get_if<KernelStep>(&plan.at(s));
    if (kernel == nullptr) continue;
    for (kernel::ClassId id : kernel::stored_by(kernel->lowered)) steps.emplace(id, s);
  }
  return steps;
}

// Finds kernels that read what a later kernel stores, or what none stores.
void check_order(const Trial& trial, DebugStage& stage) {
  const kernel::PlannedGraph& planned = trial.planned();
  const auto stored = stored_at(planned.plan);
  for (kernel::StepId s : planned.plan.step_ids()) {
    const auto* step = std::get_if<KernelStep>(&planned.plan.at(s));
    if (step == nullptr) continue;
    const kernel::LoweredKernel& lowered = step->lowered;
    for (kernel::ParamId p : lowered.origins.ids()) {
      const kernel::ParamOrigin& origin = lowered.origins[p];
      if (lowered.kernel.params[p].output || origin.source.valid()) continue;
      if (planned.source_of(origin.value).valid()) continue;
      const auto maker = stored.find(origin.value);
      if (maker != stored.end() && maker->second < s) continue;
      const std::string reader = trial.step_name(s);
      stage.blame("plan-order")
          .add("kernel", reader)
          .add("ops", trial.notes().steps[s].ops)
          .add("why", maker == stored.end()
                          ? fmt::format("no step stores what its parameter {} reads", p.value)
                          : fmt::format("its parameter {} is stored by {}, which runs later",
                                        p.value, trial.step_name(maker->second)))
          .add("way_out",
               std::string("look at how steps were ordered, and at which values are stored"));
      return;
    }
  }
}

void check_kernels(const Trial& trial, DebugStage& stage) {
  const kernel::Plan& plan = trial.planned().plan;
  for (kernel::StepId s : plan.step_ids()) {
    const auto* step = std::get_if<KernelStep>(&plan.at(s));
    if (step == nullptr) continue;
    const std::string why = kernel::verify_kernel(step->lowered.kernel);
    if (why.empty()) continue;
    stage.blame("wrong-kernel")
        .add("kernel", trial.step_name(s))
        .add("ops", trial.notes().steps[s].ops)
        .add("why", why)
        .add("way_out", std::string("look at how its terms were lowered to loops"));
    return;
  }
}

void add_steps(const Subject& subject, const Trial& trial, DebugStage& stage) {
  const kernel::PlannedGraph& planned = trial.planned();
  const auto stored = stored_at(planned.plan);
  size_t next = 0;  // kernel of the report
  for (kernel::StepId s : planned.plan.step_ids()) {
    Finding seen = Finding{}.add("step", trial.step_name(s));
    const auto* step = std::get_if<KernelStep>(&planned.plan.at(s));
    if (step == nullptr) {
      stage.seen.push_back(std::move(seen));
      continue;
    }
    std::vector<std::string> reads;
    for (kernel::ParamId p : step->lowered.origins.ids()) {
      const kernel::ParamOrigin& origin = step->lowered.origins[p];
      if (step->lowered.kernel.params[p].output) continue;
      const kernel::SourceId source =
          origin.source.valid() ? origin.source : planned.source_of(origin.value);
      const auto maker = stored.find(origin.value);
      reads.push_back(source.valid()          ? planned.terms.sources[source].name
                      : maker == stored.end() ? "nothing"
                                              : trial.step_name(maker->second));
    }
    const KernelReport& report = trial.report().kernels[next++];
    seen.add("title", report.title)
        .add("result", report.result)
        .add("ops", report.ops)
        .add("nodes", report.nodes)
        .add("rules", report.rules)
        .add("reads", reads)
        .add("text", base::digest(kernel::text(step->lowered.kernel)).substr(0, 16));
    stage.seen.push_back(std::move(seen));
  }
  for (const StoredReport& value : trial.report().stored) {
    stage.seen.push_back(Finding{}
                             .add("stored", value.value)
                             .add("type", value.type)
                             .add("kernel", value.kernel)
                             .add("readers", value.readers)
                             .add("because", value.because)
                             .add("why", value.why));
  }
  (void)subject;
}

// A cached plan must equal the one that would be made now.
void check_kept(const Subject& subject, const Trial& trial, DebugStage& stage) {
  bool kept = false;
  for (const StageReport& of : trial.report().stages) {
    kept = kept || (of.name == "plan" && of.summary.find("from the cache") != std::string::npos);
  }
  if (!kept) return;
  Subject anew = subject;
  StorageOptions& storage = anew.options.storage;
  // Without a cache folder there are no measured peaks and no calibration: they are handed over.
  const base::TemporaryFolder folder;
  const std::string machine = folder.path() / "machine.json";
  const std::string& target = anew.options.backend.target;
  const machine::Peaks peaks = machine_peaks(storage, target);
  std::ofstream(machine) << to_json(peaks);
  if (const auto found = find_calibration(storage, peaks, target); found.calibration) {
    base::replace_file(folder.path() / "machine.calibration.json",
                       to_json(kept_calibration(*found.calibration, peaks, target)),
                       base::FileReaders::Owner);
  }
  storage.machine = machine;
  storage.cache_folder = "none";
  Trial made(anew);
  if (!made.plan()) return;
  if (plan_text(made.planned()) == plan_text(trial.planned())) return;
  stage.blame("stale-cache")
      .add("why", std::string("the plan in the cache differs from the one that is made now"))
      .add("way_out", std::string("luminal cache clear; if it happens again, the cache key lacks "
                                  "something that plans depend on"));
}

}  // namespace

bool look_at_plan(const Subject& subject, Trial& trial, DebugReport& report) {
  DebugStage& stage = report.begin("plan", subject.plan);
  if (!trial.plan()) {
    stage.blame("no-plan").add("why", trial.error());
    return false;
  }
  stage.summary = plan_summary(trial.planned());
  add_steps(subject, trial, stage);
  for (const std::string& note : trial.report().notes) {
    stage.seen.push_back(Finding{}.add("note", note));
  }
  check_order(trial, stage);
  if (stage.causes.empty()) check_kernels(trial, stage);
  if (stage.causes.empty()) {
    const std::string why =
        kernel::verify_plan(trial.planned(), *subject.graph, roots(*subject.graph));
    if (!why.empty()) stage.blame("wrong-plan").add("why", why);
  }
  if (stage.causes.empty()) check_kept(subject, trial, stage);
  return stage.causes.empty();
}

bool look_at_code(const Subject& subject, Trial& trial, DebugReport& report) {
  DebugStage& stage = report.begin("code", subject.plan);
  report.target = trial.report().target;
  if (!trial.load()) {
    stage.blame("code-refused")
        .add("why", trial.error())
        .add("way_out", std::string("look at the emitter of what it names"));
    return false;
  }
  std::set<int> launches;
  for (const KernelReport& kernel : trial.report().kernels) {
    launches.insert(kernel.launch);
    stage.seen.push_back(Finding{}
                             .add("kernel", kernel.name)
                             .add("launch", kernel.launch < 0 ? "once weights are set"
                                                              : std::to_string(kernel.launch))
                             .add("slow", kernel.slow_paths));
  }
  launches.erase(-1);
  stage.summary = fmt::format("{} kernels in {} launches, for {}", trial.report().kernels.size(),
                              launches.size(), report.target);
  return true;
}

}  // namespace luminal::debug

#include "luminal/driver/calibrate/calibrate.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/os/company.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/seconds_since.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/driver/calibrate/recorded_samples.h"
#include "luminal/driver/compile/compilation.h"
#include "luminal/driver/measure/leaf_values.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/records/device.h"
#include "luminal/records/store.h"
#include "luminal/search/cost/cost_model.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kValuesSeed = 20240229;
constexpr double kCaseSeconds = 0.03;
constexpr double kFirstShare = 0.75;  // of the seconds, for the first round
constexpr size_t kFewestRuns = 5, kMostRuns = 2000;

// The kernels that the model plans, before weights are packed for them.
std::vector<search::CostParts> parts_of(const Graph& graph, const CompileOptions& options) {
  Compilation compilation(graph, options);
  compilation.leave_weights_unpacked();
  compilation.verify();
  compilation.plan();
  const search::SearchOptions search = planning_options(graph, options).search;
  std::vector<search::CostParts> parts;
  for (const auto& step : compilation.planned(0).plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    parts.push_back(search::cost_parts(kernel->lowered.kernel, search.machine, search.sizes));
  }
  return parts;
}

void set_values(Executable& executable, Graph& graph) {
  const std::vector<NodeId>& leaves = graph.leaves();
  const std::vector<runtime::Buffer> values = leaf_values(graph, {}, graph, leaves, kValuesSeed);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Node& node = graph.node(leaves[i]);
    executable.set(graph.tensor(leaves[i]), TensorData{.dtype = node.dtype,
                                                       .dims = resolve_dims(node.dims, {})->sizes,
                                                       .bytes = values[i].bytes(),
                                                       .owner = values[i].owner()});
  }
}

// Other programs can only make a run slower, but the fastest one of all may have been lucky.
double lower_decile(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 10];
}

double seconds_of(Executable& executable) {
  executable.run();  // folds weights, allocates memory
  std::vector<double> runs;
  const Clock::time_point start = Clock::now();
  while (runs.size() < kMostRuns &&
         (runs.size() < kFewestRuns || base::seconds_since(start) < kCaseSeconds)) {
    const Clock::time_point begin = Clock::now();
    executable.run();
    runs.push_back(base::seconds_since(begin));
  }
  return lower_decile(std::move(runs));
}

std::vector<search::CostSample> recorded(const machine::Peaks& peaks,
                                         const CompileOptions& options) {
  if (options.storage.records == "none") return {};
  try {
    const std::filesystem::path file = options.storage.records.empty()
                                           ? records::Store::default_file()
                                           : std::filesystem::path(options.storage.records);
    if (!std::filesystem::exists(file)) return {};
    const records::Store store = records::Store::open(file, records::Mode::ReadOnly);
    const auto threads = static_cast<int>(base::usable_threads());
    const records::Device device = records::this_device(options.backend.target, threads);
    return samples_of(store.kernels(device.fingerprint, std::string(base::code_fingerprint())),
                      peaks);
  } catch (const UserError&) {
    return {};
  }
}

std::string kinds_of(const search::CostSample& sample) {
  std::set<std::string_view> kinds;
  for (const search::CostParts& parts : sample.kernels) kinds.insert(name(parts.kind));
  std::string text;
  for (std::string_view kind : kinds) text += (text.empty() ? "" : ", ") + std::string(kind);
  return text;
}

}  // namespace

search::CostSample plan_case(const CalibrationCase& of, const CompileOptions& options) {
  Graph graph;
  of.build(graph);
  return {.name = of.name, .kernels = parts_of(graph, options)};
}

double time_case(const CalibrationCase& of, const CompileOptions& options) {
  Graph graph;
  of.build(graph);
  Executable executable = compile(graph, options);
  set_values(executable, graph);
  return seconds_of(executable);
}

namespace {

// The cases of a calibration, timed round by round until the time is over.
class Rounds {
 public:
  Rounds(const machine::Peaks& peaks, const CalibrateOptions& options)
      : options_(options), peaks_(peaks), compile_(options.compile), cases_(calibration_cases()) {
    // As given ones, so that no calibration of before takes part.
    compile_.storage.machine = (folder_.path() / "peaks.json").string();
    base::replace_file(compile_.storage.machine, to_json(peaks), base::FileReaders::Owner);
  }

  // Plans by the model without a calibration.
  void first(std::vector<search::CostSample>& samples) {
    for (const CalibrationCase& of : cases_) {
      if (base::seconds_since(start_) > kFirstShare * options_.seconds) break;
      plans_.push_back(plan_case(of, compile_));
      add(of, plans_.back(), samples);
    }
  }

  // Plans by `calibration`, where they differ.
  void second(const search::Calibration& calibration, std::vector<search::CostSample>& samples) {
    const KeptCalibration kept = kept_calibration(calibration, peaks_, compile_.backend.target);
    base::replace_file(folder_.path() / "peaks.calibration.json", to_json(kept),
                       base::FileReaders::Owner);
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (base::seconds_since(start_) > options_.seconds) break;
      search::CostSample again = plan_case(cases_[i], compile_);
      if (again.kernels == plans_[i].kernels) continue;
      again.name += ", planned again";
      ++planned_again_;
      add(cases_[i], std::move(again), samples);
    }
  }

  int planned_again() const { return planned_again_; }
  int left_out() const { return static_cast<int>(cases_.size() - plans_.size()); }
  double others() const { return others_; }
  double seconds() const { return base::seconds_since(start_); }

 private:
  void add(const CalibrationCase& of, search::CostSample sample,
           std::vector<search::CostSample>& samples) {
    const auto done = static_cast<int>(plans_.size());
    if (options_.progress) options_.progress(done, static_cast<int>(cases_.size()), sample.name);
    sample.seconds = time_case(of, compile_);
    samples.push_back(std::move(sample));
    others_ = std::max(others_, company_.cores());
  }

  const CalibrateOptions& options_;
  const machine::Peaks& peaks_;
  CompileOptions compile_;
  const std::vector<CalibrationCase> cases_;
  const Clock::time_point start_ = Clock::now();
  const base::TemporaryFolder folder_;
  base::Company company_;
  std::vector<search::CostSample> plans_;  // of the first round
  int planned_again_ = 0;
  double others_ = 0;
};

}  // namespace

CalibrateResult calibrate(const machine::Peaks& peaks, const CalibrateOptions& options) {
  CalibrateResult result;
  std::vector<search::CostSample> samples = recorded(peaks, options.compile);
  result.from_records = static_cast<int>(samples.size());
  Rounds rounds(peaks, options);
  rounds.first(samples);
  rounds.second(search::fit(samples), samples);
  result.planned_again = rounds.planned_again();
  result.left_out = rounds.left_out();
  result.others = rounds.others();
  result.calibration = search::fit_validated(samples);
  const std::vector<double> held_out = search::held_out_seconds(samples);
  for (size_t i = 0; i < samples.size(); ++i) {
    const search::CostSample& sample = samples[i];
    result.kernels.push_back({.name = sample.name,
                              .kind = kinds_of(sample),
                              .measured_seconds = sample.seconds,
                              .before_seconds = seconds(sample, search::no_calibration()),
                              .held_out_seconds = held_out[i]});
  }
  result.seconds = rounds.seconds();
  return result;
}

}  // namespace luminal

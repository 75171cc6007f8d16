#include "apps/bench/kernels/runner.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>

#include "apps/bench/kernels/inputs.h"
#include "luminal/base/errors.h"
#include "luminal/base/seconds_since.h"
#include "luminal/driver/compile.h"

namespace luminal::bench {
namespace {

// Samples per case: enough for a spread, few enough to write down.
constexpr double kSamples = 50;
// Minimum duration of a sample, because reading the clock takes time, too.
constexpr double kLeastSampleSeconds = 20e-6;
constexpr double kMostInterpretedBytes = 4e6, kMostInterpretedFlops = 4e7;

// Discards Google Benchmark's output: the benchmark itself collects the samples.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) error = run.error_message;
    }
  }
  std::string error;
};

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Approximate seconds of a run: the best of a few, because a single one may have been disturbed.
double roughly(Executable& executable) {
  constexpr int kTries = 10;
  constexpr double kLongEnough = 0.02;
  double best = kLongEnough * 1e6, all = 0;
  for (int i = 0; i < kTries && all < kLongEnough; ++i) {
    const auto start = std::chrono::steady_clock::now();
    executable.run();
    const double taken = base::seconds_since(start);
    best = std::min(best, taken);
    all += taken;
  }
  return std::max(best, 1e-7);
}

// Google Benchmark chooses the repetitions until the samples take long enough in total.
std::vector<double> samples_of(Executable& executable, const std::string& name, double min_seconds,
                               int64_t& runs_per_sample) {
  executable.run();  // warm-up: folds weights, allocates memory
  const double once = roughly(executable);
  const double wanted = std::max(min_seconds / kSamples, kLeastSampleSeconds);
  runs_per_sample = std::max<int64_t>(1, std::llround(wanted / once));
  std::vector<double> samples;
  const auto take_samples = [&](benchmark::State& state) {
    samples.clear();  // of a first attempt that was too short
    for (auto _ : state) {
      const auto begin = std::chrono::steady_clock::now();
      for (int64_t i = 0; i < runs_per_sample; ++i) executable.run();
      const double taken = base::seconds_since(begin);
      state.SetIterationTime(taken);
      samples.push_back(taken / static_cast<double>(runs_per_sample));
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), take_samples)->UseManualTime()->MinTime(min_seconds);
  Silent reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (!reporter.error.empty()) throw DeviceError(name + ": " + reporter.error);
  return samples;
}

}  // namespace

bool name_matches(const std::string& name, const std::string& filter) {
  if (filter.empty()) return true;
  std::stringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (!part.empty() && name.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string Task::name() const { return fmt::format("{}/{}/t{}", of->name(), backend, threads); }

std::vector<Task> tasks(const Selection& selection) {
  std::vector<Task> list;
  for (const Case& of : cases(selection.level)) {
    if (!contains(selection.sizes, of.size) || !contains(selection.dtypes, of.dtype)) continue;
    for (const std::string& backend : selection.backends) {
      for (int threads : selection.threads) {
        Task task{.of = &of, .backend = backend, .threads = threads};
        if (name_matches(task.name(), selection.filter)) list.push_back(std::move(task));
      }
    }
  }
  if (list.empty()) {
    throw UserError(
        fmt::format("bench {}: no case is left under these --filter, --sizes and --dtype; "
                    "luminal bench {} --list names all",
                    name(selection.level), name(selection.level)));
  }
  return list;
}

std::string why_left_out(const Task& task) {
  if (task.backend != "interp") return "";
  if (task.threads != 1) return "the interpreter has one thread";
  Graph graph;
  task.of->build(graph);
  if (moved_bytes(graph) <= kMostInterpretedBytes && task.of->flops <= kMostInterpretedFlops) {
    return "";
  }
  return "the interpreter would take too long";
}

Measured run_task(const Task& task, const RunSettings& settings) {
  Graph graph;
  task.of->build(graph);
  CompileReport report;
  CompileOptions options;
  options.backend.name = task.backend;
  options.backend.threads = task.threads;
  options.storage.cache_folder = settings.cache_folder;
  options.report = &report;
  Executable executable = compile(graph, options);
  set_inputs(executable, graph, make_inputs(*task.of, graph));
  const double bytes = moved_bytes(graph);
  Measured measured{.of = *task.of,
                    .backend = task.backend,
                    .threads = task.threads,
                    .bytes = bytes,
                    .working_set = bytes,
                    .kernels = static_cast<int64_t>(report.kernels.size() - report.n_packing()),
                    .seconds = {}};
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.packs) continue;
    measured.model_seconds += kernel.model_us * 1e-6;
    measured.bound_seconds += kernel.bound_us() * 1e-6;
  }
  measured.seconds =
      samples_of(executable, task.name(), settings.min_seconds, measured.runs_per_sample);
  return measured;
}

}  // namespace luminal::bench

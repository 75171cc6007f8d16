#include "apps/bench/kernels/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/bench/harness/samples.h"
#include "apps/bench/kernels/inputs.h"
#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"

namespace luminal::bench {
namespace {

constexpr double kMostInterpretedBytes = 4e6, kMostInterpretedFlops = 4e7;

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
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
  Samples samples = take_samples([&] { executable.run(); }, settings.min_seconds);
  measured.runs_per_sample = samples.runs_per_sample;
  measured.seconds = std::move(samples.seconds);
  return measured;
}

}  // namespace luminal::bench

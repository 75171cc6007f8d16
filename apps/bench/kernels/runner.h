// Runner: compiles a case and samples its time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/kernels/metrics.h"

namespace luminal::bench {

// What to run of a level: all combinations of these that exist as cases.
struct Selection {
  Level level = Level::Micro;
  std::string filter;  // part of a case's name, or several comma-separated parts; empty: all
  std::vector<Size> sizes;
  std::vector<DType> dtypes;
  std::vector<int> threads;
  std::vector<std::string> backends;
};

struct Task {
  const Case* of = nullptr;
  std::string backend;
  int threads = 1;
  std::string name() const;  // as Measured::name
};

// Whether a name contains one of the filter's parts.
bool name_matches(const std::string& name, const std::string& filter);

// In the order of the cases. UserError if nothing is selected.
std::vector<Task> tasks(const Selection& selection);

// Why a task is skipped: the interpreter takes minutes for large ones. Empty if it runs.
std::string why_left_out(const Task& task);

struct RunSettings {
  double min_seconds = 0.1;  // total of the samples per case
  std::string cache_folder;  // as CompileOptions has it
};

// Errors of compiling and running propagate.
Measured run_task(const Task& task, const RunSettings& settings);

}  // namespace luminal::bench

// Runner: compiles a case and takes samples of its time, by Google Benchmark.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/bench/kernels/metrics.h"

namespace luminal::bench {

// What to run of a level: the product of these, where a case has them.
struct Selection {
  Level level = Level::Micro;
  std::string filter;  // part of a case's name, or several parts with commas; empty: all
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

// In the order of the cases. UserError where nothing is left.
std::vector<Task> tasks(const Selection& selection);

// Why a task isn't run: the interpreter takes minutes for large ones. Empty where it is.
std::string why_left_out(const Task& task);

struct RunSettings {
  double min_seconds = 0.1;  // of samples for each case
  std::string cache_folder;  // as CompileOptions has it
};

// Throws what compiling and running throws.
Measured run_task(const Task& task, const RunSettings& settings);

}  // namespace luminal::bench

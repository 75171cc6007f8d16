// Plan: what runs, in order: kernels, and host steps for what no kernel computes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "luminal/kernel/lower/stage.h"
#include "luminal/kernel/plan/schedule_choices.h"
#include "luminal/kernel/plan/strategy.h"

namespace luminal::kernel {

// Steps that read only weights run once, when those are set, unless what they store is more than
// this many times as large as what they read: a broadcast of a weight is cheaper to compute again
// than to read.
constexpr int64_t kMostFoldedGrowth = 4;

// What is known about a library's routine for a kernel; all empty where nobody asked, or where the
// kernel is nothing for a library.
struct LibraryUse {
  std::string routine = {};   // "oneDNN 3.2.0, brg:avx512_core_amx"; empty where it has none
  std::string why_none = {};  // then
  double own_seconds = 0;     // measured, where that was the question
  double library_seconds = 0;
};

// The same with a backend's answer: whether the library computes the kernel.
struct LibraryChoice : LibraryUse {
  bool taken = false;
};

// What a kernel took where it was measured: the median, and its 95 % interval. 0: it wasn't.
struct MeasuredTime {
  double seconds = 0;
  double low = 0, high = 0;
};

struct KernelStep {
  LoweredKernel lowered;
  double model_seconds = 0;  // by the cost model, at the representative sizes
  // Of a kernel that only stores a weight in panels (see pack_weights.h): the weight, in words.
  std::string packs = {};
  LibraryUse library = {};
  Strategy strategy = Strategy::Loops;
  ScheduleChoices schedule = {};
  MeasuredTime measured = {};
};

// A step that computes a kernel by its default strategy.
KernelStep make_step(LoweredKernel lowered, double model_seconds = 0);

// Another way to compute a step's kernel.
struct StepChoice {
  Strategy strategy = Strategy::Loops;
  ScheduleChoices schedule = {};

  bool operator==(const StepChoice&) const = default;
};
// "matmul, block_k 512"; the schedule is left out where nothing is chosen.
std::string text(const StepChoice& choice);

// A node of the graph that the host computes: source `source` of the term graph is its result.
struct HostStep {
  SourceId source;
};

struct StepTag;
struct KernelTag;
using StepId = Id<StepTag>;      // a position in Plan::steps
using KernelId = Id<KernelTag>;  // a position among the steps that are kernels

struct Plan {
  std::vector<std::variant<KernelStep, HostStep>> steps;
  double model_seconds = 0;
  // By class of the term graph: the term that computes it. Empty where nothing asks.
  std::vector<int> term = {};

  const auto& at(StepId id) const { return steps[id.index()]; }
  IdRange<StepId> step_ids() const { return {0, steps.size()}; }

  int n_kernels() const {
    int count = 0;
    for (const auto& step : steps) count += std::holds_alternative<KernelStep>(step);
    return count;
  }
};

}  // namespace luminal::kernel

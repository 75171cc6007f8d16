// A trial: a random graph, how it is compiled, and the data of its runs; and whether the CPU back
// end computes what the f64 interpreter says, within the bounds of bounded_values.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/driver/compile.h"

namespace luminal::tests {

struct TrialRun {
  Bindings bindings;
  std::map<std::string, TensorData> leaves = {};  // by name; a state without data keeps its own
};

struct Trial {
  std::unique_ptr<Graph> graph;
  FusionPolicy fusion = FusionPolicy::Modelled;
  Numerics numerics = Numerics::Reassociating;
  std::string target = {};  // empty: this machine's best
  int threads = 1;
  bool check = false;               // each kernel beside the interpreter, as the run goes
  Rolling rolling = Rolling::Auto;  // with Always, the graph as it is is judged too
  std::vector<TrialRun> runs = {};  // one executable serves them all
};

Trial random_trial(uint64_t seed);
// A graph of random_loop.h, rolled wherever it repeats.
Trial random_loop_trial(uint64_t seed);

struct Verdict {
  std::optional<std::string> failure = {};
  size_t elements = 0;  // of all results compared
  size_t unknown = 0;   // of them, those about which the bounds say nothing
  size_t kernels = 0;
  std::string rolled = {};  // "12 iterations of 9 nodes"; empty: nothing was
};

// States that kept their own get it written into `trial`, so that any run can be repeated alone.
Verdict judge(Trial& trial);

// A smaller trial that fails too: one output, and inner values given as inputs where the failure
// doesn't need what computes them. None if the failure goes away with any of that.
std::optional<Trial> shrink(const Trial& trial);

}  // namespace luminal::tests

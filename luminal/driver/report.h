// CompileReport: what a compile did, for people and programs: stages, rules, kernels, and all that
// took a slower path.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

// A stage of the pipeline: "graph", "terms", "saturated", "plan", "kernels".
struct StageReport {
  std::string name;
  double seconds = 0;
  std::string summary;  // one line
};

struct RuleGrowth {
  std::string rule;
  uint64_t matches = 0;
  uint64_t new_nodes = 0;
  uint64_t unions = 0;
  double seconds = 0;
};

struct KernelReport {
  std::string name;                // "kernel 3"
  std::vector<std::string> ops;    // the source ops it computes, as "add ×2"
  std::vector<std::string> rules;  // behind its terms
  std::string result;              // type of what it stores
  double model_us = 0;             // by the roofline, at the typical sizes
  double model_bytes = 0;
  double model_flops = 0;
  double compile_ms = 0;
  bool from_cache = false;
  std::string text;                        // canonical
  std::function<std::string()> low_level;  // LLVM IR, made when asked for
  std::function<std::string()> assembly;
};

struct LUMINAL_API CompileReport {
  // What to record beside the figures, set by the caller.
  std::string print_after;      // a stage whose full text goes to `out`; "all" for each
  std::string stop_after;       // the last stage to run: compile() then throws CompileStopped
  std::ostream* out = nullptr;  // standard output if null

  std::vector<StageReport> stages;
  std::vector<RuleGrowth> rules;
  std::vector<KernelReport> kernels;
  std::vector<std::string> notes;  // what did not fuse, what runs on the host, and why
  std::string target;              // what kernels are compiled for
  uint64_t egraph_nodes = 0;
  uint64_t egraph_classes = 0;
  int search_candidates = 0;
  int search_kernels = 0;  // distinct ones that were costed
  int search_bits = 0;
  double model_us = 0;

  std::string text() const;
};

// Thrown by compile() after the stage that CompileReport::stop_after names.
struct LUMINAL_API CompileStopped {
  std::string stage;
};

}  // namespace luminal

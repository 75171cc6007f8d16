// CompileReport: what a compile did, for people and programs: stages, rules, kernels, and all that
// took a slower path. Each member has its row in report/report_fields.h, from which JSON and bytes
// are written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

// A stage of the pipeline: "graph", "rolled" (where loops are), "terms", "saturated", "plan",
// "kernels".
struct StageReport {
  std::string name;
  double seconds = 0;
  std::string summary;  // one line
  size_t rotation = 0;  // of "rolled": which way to roll was taken
};

struct RuleGrowth {
  std::string rule;
  std::string group;          // "algebra"
  std::string numeric_class;  // "exact", "reassociating", "finite" or "approximate"
  std::string origin = {};    // of an added rule: "mine.egg", "gemm.egg of backend 'toy'"
  uint64_t matches = 0;
  uint64_t new_nodes = 0;
  uint64_t unions = 0;
  double seconds = 0;
};

// A value that a kernel computes inside, and what storing it would add to the plan; or one that an
// equal term could compute, and what that would add.
struct RivalReport {
  std::string value;    // "%12 (add)", or its term where no node has that value
  double extra_us = 0;  // by the model
  std::string why;      // not empty: there is no such plan, by this limit
  std::string taken;    // of a term: the one that the kernel computes
  std::string other;    // and the one that it was chosen over; both empty for a value to store
};

struct KernelReport {
  std::string name;                // "kernel 3", "panels of 'w'"
  std::string title;               // by what it computes: "layers.3.mlp: down_proj → add"
  bool packs = false;              // only stores a weight in panels, once; has no number
  std::vector<std::string> ops;    // the source ops it computes, as "add ×2"
  std::vector<std::string> nodes;  // of the graph, that it computes: "%12 (add)"
  std::vector<std::string> rules;  // behind its terms
  std::string result;              // type of what it stores
  double model_us = 0;             // by the cost model, at the typical sizes
  double model_bytes = 0;
  double model_flops = 0;
  // Its roofline: lower bounds by bytes, arithmetic and the launch.
  double bytes_us = 0;
  double flops_us = 0;
  double launch_us = 0;
  double bound_us() const { return std::max(bytes_us, flops_us) + launch_us; }
  std::string strategy;        // the way it is computed: "matmul"
  std::string schedule;        // how it runs, where that was tuned: "schedule unroll 2"
  double measured_us = 0;      // its time on this machine, where it was measured,
  double measured_low_us = 0;  // and the interval it lies in
  double measured_high_us = 0;
  double compile_ms = 0;
  bool from_cache = false;
  int launch = -1;  // kernels of one number run side by side; −1: it runs once weights are set
  bool by_library = false;     // a library computes it; nothing was compiled
  std::string library;         // its routine, where it has one: "oneDNN 3.2.0, brg:avx512_core"
  std::string why_no_library;  // of a matrix product that it can't compute, where it was asked
  double own_us = 0;           // measured, where that was to choose between the two
  double library_us = 0;
  std::vector<RivalReport> rivals;         // the nearest ones, where InspectOptions ask for them
  std::string text;                        // canonical
  std::vector<std::string> slow_paths;     // reasons why it can't run at full speed, a line each
  std::function<std::string()> low_level;  // LLVM IR, made when asked for
  std::function<std::string()> assembly;
};

// A value that kernels pass on in memory: what wasn't fused, and why.
struct StoredReport {
  std::string value;                 // "%12 (add)", or its term where no node has that value
  std::string type;                  // "f32[s, 64]"
  std::string kernel;                // that stores it
  std::vector<std::string> readers;  // the kernels that could have computed it themselves
  std::string because;               // "no kernel can hold it"
  std::string why;                   // the limit, where one is the reason
  // By the model, if that is the reason: time added by computing it in its readers.
  double extra_us = 0;
};

// A search by measurements, of one plan.
struct SearchReport {
  std::string mode;   // "measured" or "replay"; or "remembered": its result was in the records
  double budget = 0;  // in seconds, of the search that found the plan; if interrupted, what it used
  bool recorded = false;  // whether the plan is in the tuning records now
  double seconds = 0;
  int candidates = 0;                    // distinct plans
  int timed = 0;                         // kernels timed now,
  int remembered = 0;                    // and known from records
  int compared = 0;                      // pairs of plans timed whole, in turns
  double first_us = 0;                   // the model's choice: its kernels together
  double best_us = 0;                    // the plan that won
  double bound_us = 0;                   // its roofline
  std::string stopped;                   // why the search ended
  std::vector<std::string> comparisons;  // a line each
};

// The decision about a pattern (docs/fusion.md) at one shape, wherever the graph has it.
struct FusionReport {
  static constexpr const char* kFused = "fused";
  static constexpr const char* kStored = "stored";
  static constexpr const char* kModelled = "left to the model";
  static constexpr const char* kByRules = "left to fixed rules";

  std::string variant;              // of the plan it was decided for: "s = 2 … 16"
  std::string pattern;              // "swiglu"
  std::vector<std::string> places;  // its results: "%12 (mul)"
  int64_t tokens = 0;               // rows at the typical sizes, 0 where they have no value;
  int64_t hidden = 0;               // see FusionShape
  int64_t intermediate = 0;
  std::string dtype;
  std::string decision;  // one of those above
  std::string source;    // "policy never", or as text(FusionSource) says it: "profile", "records"
  double ratio = 0;      // the fused plan's time / the other's, if that was measured,
  double low = 0;        // with its 95 % interval
  double high = 0;
  int rounds = 0;
  int fused_kernels = 0;
  int unfused_kernels = 0;
  std::string note;
};

// One plan of the executable: the kernels from `first_kernel` on are its.
struct PlanReport {
  static constexpr const char* kCostModel = "the cost model";

  std::string variant;  // "s = 2 … 16"; empty where there is only one
  std::string sizes;    // that the model was asked for: "s = 128"; empty where nothing is dynamic
  size_t first_kernel = 0;
  size_t n_kernels = 0;
  double model_us = 0;
  std::string origin = kCostModel;  // or "the tuning records, found by a search of 20 s"
};

// Memory of a run besides inputs and weights, at the sizes it was planned for.
struct MemoryReport {
  std::string sizes;              // "s = 128"; empty where nothing is dynamic
  uint64_t peak = 0;              // working memory: values in the arena share it
  uint64_t unshared = 0;          // what it would be if they didn't
  uint64_t folded = 0;            // values of weights alone, computed once and kept
  std::vector<std::string> kept;  // those, each with its bytes
};

struct LUMINAL_API CompileReport {
  std::vector<StageReport> stages;
  std::vector<RuleGrowth> rules;
  std::vector<SearchReport> searches;  // one per variant, where plans were searched by measuring
  std::vector<PlanReport> plans;       // one per variant; none on backends that run the graph
  std::vector<KernelReport> kernels;   // of all plans
  std::vector<StoredReport> stored;
  std::vector<FusionReport> fusion;  // what was decided before the search; InspectOptions
  std::vector<std::string> notes;    // what did not fuse, what runs on the host, and why
  std::string target;                // what kernels are compiled for
  std::string machine;               // the peaks that the model went by, and where they are from
  std::string graph;                 // a digest: reports of one graph have the same
  uint64_t egraph_nodes = 0;
  uint64_t egraph_classes = 0;
  int search_candidates = 0;
  int search_kernels = 0;  // distinct ones that were costed
  int search_bits = 0;
  double model_us = 0;
  std::vector<MemoryReport> memory;  // one per variant; none on backends that plan no memory

  size_t n_packing() const;  // of the kernels, those that only store a weight in panels
  std::string text() const;
  std::string json() const;         // all of it, but for low-level code
  std::string fusion_text() const;  // what was decided about patterns, a line or two each
};

// Thrown by compile() after the stage that InspectOptions::stop_after names.
struct LUMINAL_API CompileStopped {
  std::string stage;
};

}  // namespace luminal

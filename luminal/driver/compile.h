// compile(): from a graph to an executable.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/backends/library_policy.h"
#include "luminal/base/visibility.h"
#include "luminal/driver/executable.h"
#include "luminal/driver/report.h"
#include "luminal/graph/graph.h"
#include "luminal/search/policies.h"

namespace luminal {

// How plans are chosen; docs/search.md.
enum class SearchMode : uint8_t {
  Modelled,  // by the cost model alone: the same plan on machines with as many threads, in seconds
  Measured,  // by running them on this machine
  Replay,    // as a measured search went before, by its records alone; times nothing
};

struct PlanSearch {
  SearchMode mode = SearchMode::Modelled;
  // The budget of a measured search, of all variants together: whichever is over first.
  double seconds = 20;
  int candidates = 200;  // plans of each variant
  int warm_ups = 2;      // runs before those that count
  int trials = 15;       // runs that a kernel's time is the median of
  int finalists = 3;     // plans that run whole, in turns with the best one so far
  // Times that were measured beside other programs enter the records, too. Else they serve this
  // compile alone, and a note says so.
  bool keep_busy_times = false;
};

// Rules of one's own, as text; see docs/rules.md.
struct RuleFile {
  std::string name;  // that messages give
  std::string text;
};

// How far a compile is, for whoever waits for it.
struct CompileProgress {
  std::string_view stage;  // "fusion", "plan", "search" or "kernels"; the others are over at once
  int done = 0;            // patterns decided, plans tried, kernels compiled
  int total = 0;           // 0: not known
  std::string text = {};   // of a search: what it found so far
};

struct CompileOptions {
  std::string backend = "cpu";  // see backend_names()
  bool float64 = false;         // interp only: compute every float as f64, the yardstick
  FusionPolicy fusion = FusionPolicy::Modelled;
  // By pattern, "swiglu" or "add-rms-norm": another policy than that for the whole. Never stores
  // the pattern's own values, Always stores none of them.
  std::map<std::string, FusionPolicy> fusion_groups = {};
  // A file with what was measured (`luminal tune fusion`), for policy Measured. What it doesn't
  // hold is measured when compiling, and kept there. Empty: there is none.
  std::string fusion_profile = {};
  // Of the cpu backend: "avx512", "avx2", "sse2"; empty: this machine's best.
  std::string target = {};
  // A file with what the machine does at most (`luminal doctor --json` prints the figures), for the
  // model that plans are chosen by; empty: what `luminal doctor --measure` kept, else defaults for
  // the instruction set. CompileReport::machine says which.
  std::string machine = {};
  Numerics numerics = Numerics::Reassociating;
  std::vector<RuleFile> rules = {};             // beside the embedded ones
  std::vector<std::string> disable_rules = {};  // groups of rules that don't run: "algebra"
  int threads = 0;                              // 0: as many as this process may use
  std::string cache_folder = {};   // for plans and kernels; empty: the user's; "none": none
  uint64_t cache_bytes = 1 << 30;  // that it may hold: what was used least recently goes
  // Bytes an executable may allocate for itself; 0: what the control group of the process allows.
  uint64_t memory_limit = 0;
  LibraryPolicy library = LibraryPolicy::Never;
  Rolling rolling = Rolling::Auto;
  PlanSearch search = {};
  // The file of tuning records; empty: the user's; "none": nothing is remembered.
  std::string records = {};
  uint64_t seed = 1;            // of the search
  Bindings typical_sizes = {};  // of variables, for the model; others get 128 or a bound
  // Plans for ranges of a variable, of which run() takes the one for its value: {"s", {1, 16}}
  // means one for s = 1 (and less), one for 2 … 16, one for more.
  std::map<std::string, std::vector<int64_t>> variants = {};
  CompileReport* report = nullptr;  // filled in if given
  // Called often, by the thread that compiles.
  std::function<void(const CompileProgress&)> progress = nullptr;
  // Of a measured search: asked often, and true ends it: what it found is taken. And an object of
  // JSON for each thing that it does.
  std::function<bool()> stop_search = nullptr;
  std::function<void(const std::string& json)> search_events = nullptr;
};

// The graph as it is now: later changes to it don't reach the executable. Weights and states whose
// data was set are loaded; everything else must be set before run().
LUMINAL_API Executable compile(const Graph& graph, const CompileOptions& options = {});

// The names compile() takes.
LUMINAL_API std::vector<std::string> backend_names();

}  // namespace luminal

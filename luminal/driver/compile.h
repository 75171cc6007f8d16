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
  int warm_ups = 2;      // runs before those that are timed
  int trials = 15;       // timed runs; a kernel's time is their median
  int finalists = 3;     // plans that are run whole, alternating with the best so far
  // Keep times that were measured while other programs were running. Otherwise they are only used
  // by this compile, and a note says so.
  bool keep_busy_times = false;
};

// User-defined rules, as text; see docs/rules.md.
struct RuleFile {
  std::string name;  // used in messages
  std::string text;
};

// Progress of a compile.
struct CompileProgress {
  std::string_view stage;  // "fusion", "plan", "search" or "kernels"; the others are over at once
  int done = 0;            // patterns decided, plans tried, kernels compiled
  int total = 0;           // 0: not known
  std::string text = {};   // of a search: what it found so far
};

struct CompileOptions {
  std::string backend = "cpu";  // see backend_names()
  bool float64 = false;         // interp only: compute every float as f64, as the reference
  FusionPolicy fusion = FusionPolicy::Modelled;
  // By pattern, "swiglu" or "add-rms-norm": a policy that overrides `fusion`. Never stores the
  // pattern's own values, Always stores none of them.
  std::map<std::string, FusionPolicy> fusion_groups = {};
  // A profile written by `luminal tune fusion`, for the policy Measured. Missing entries are
  // measured when compiling, and added. Default: none.
  std::string fusion_profile = {};
  // Of the cpu backend: "avx512", "avx2" or "sse2"; default: the best this machine supports.
  std::string target = {};
  // A file with the machine's peak rates (`luminal doctor --json` prints them), for the cost model;
  // default: what `luminal doctor --measure` stored, else defaults for the instruction set.
  // CompileReport::machine says which.
  std::string machine = {};
  Numerics numerics = Numerics::Reassociating;
  std::vector<RuleFile> rules = {};             // in addition to the embedded ones
  std::vector<std::string> disable_rules = {};  // groups of rules that don't run: "algebra"
  int threads = 0;                              // 0: as many as this process may use
  std::string cache_folder = {};   // for plans and kernels; default: the user's; "none": no cache
  uint64_t cache_bytes = 1 << 30;  // its maximum size; the least recently used entries are evicted
  // Maximum bytes that an executable allocates; 0: the memory limit of the process's control group.
  uint64_t memory_limit = 0;
  LibraryPolicy library = LibraryPolicy::Never;
  Rolling rolling = Rolling::Auto;
  PlanSearch search = {};
  // The file of tuning records; default: the user's; "none": nothing is stored.
  std::string records = {};
  uint64_t seed = 1;            // of the search
  Bindings typical_sizes = {};  // of variables, for the model; default: 128, or the nearest bound
  // Separate plans for ranges of a variable, chosen by run() from its value: {"s", {1, 16}} means
  // one for s = 1 (and less), one for 2 … 16, one for more.
  std::map<std::string, std::vector<int64_t>> variants = {};
  CompileReport* report = nullptr;  // filled in if given
  // Called often, on the compiling thread.
  std::function<void(const CompileProgress&)> progress = nullptr;
  // Of a measured search: `stop_search` is polled, and true ends the search with the best plan so
  // far; `search_events` gets a JSON object per event.
  std::function<bool()> stop_search = nullptr;
  std::function<void(const std::string& json)> search_events = nullptr;
};

// Compiles the graph as it is now: later changes to it don't affect the executable. Weights and
// states whose data was set are loaded; everything else must be set before run().
LUMINAL_API Executable compile(const Graph& graph, const CompileOptions& options = {});

// The names compile() takes.
LUMINAL_API std::vector<std::string> backend_names();

}  // namespace luminal

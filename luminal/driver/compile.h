// compile(): from a graph to an executable.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/executable.h"
#include "luminal/driver/report.h"
#include "luminal/graph/graph.h"

namespace luminal {

// Which values kernels hand over in memory, and which they keep to themselves.
enum class FusionPolicy : uint8_t {
  Modelled,  // where the machine's model says that fusing pays
  Always,    // everything that one kernel can hold
  Never,     // every op its own kernel
};

struct CompileOptions {
  std::string backend = "cpu";  // see backend_names()
  bool float64 = false;         // interp only: compute every float as f64, the yardstick
  FusionPolicy fusion = FusionPolicy::Modelled;
  std::string target =
      {};           // of the cpu backend: "avx512", "avx2", "sse2"; empty: this machine's best
  int threads = 0;  // 0: as many as this process may use
  std::string cache_folder = {};    // for compiled kernels; empty: the user's; "none": none
  uint64_t seed = 1;                // of the search
  Bindings typical_sizes = {};      // of variables, for the model; others get 128 or a bound
  CompileReport* report = nullptr;  // filled in if given
};

// The graph as it is now: later changes to it don't reach the executable. Weights and states whose
// data was set are loaded; everything else must be set before run().
LUMINAL_API Executable compile(const Graph& graph, const CompileOptions& options = {});

// The names compile() takes.
LUMINAL_API std::vector<std::string> backend_names();

}  // namespace luminal

// Trace: the steps of runs with their times, in the trace event format of Chrome and Perfetto.
#pragma once

#include <string>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

// Peak rates that bound a kernel: memory and arithmetic.
struct Roofline {
  double bytes_per_second = 0;
  double flops_per_second = 0;
};

// One step of one run, or the run itself.
struct TraceEvent {
  std::string kind;        // "run", "kernel", "host" or "copy"
  std::string name;        // "kernel 3"
  std::string title = {};  // of a kernel: "layers.3.mlp: down_proj → add"
  int run = 0;
  double start_us = 0;  // since the trace's first run
  double us = 0;
  int threads = 1;
  std::vector<std::string> ops = {};     // of a kernel: what it computes, as "add ×2"
  std::vector<std::string> rules = {};   // behind its terms
  std::vector<std::string> reads = {};   // types of its parameters in this run: "f32[128, 64]"
  std::vector<std::string> writes = {};  // and of its results
  double bytes = 0;                      // by the kernel's own count; 0 where it is not known
  double flops = 0;
  std::string library = {};  // that computes a kernel: "oneDNN 3.2.0, brg:avx512_core"
};

// Collects events while RunOptions::trace points to it, over any number of runs.
struct LUMINAL_API Trace {
  std::vector<TraceEvent> events;
  // The peaks that json() compares with; zeros mean those measured on this machine, for as many
  // threads as the process may use. If they were never measured, that takes two seconds.
  Roofline roofline;

  // The trace event format: complete events ("ph": "X") with GB/s, GF/s and the share of the
  // roofline among their arguments. A share above 1 means that data came from a cache.
  std::string json() const;
};

// This machine's roofline: measured earlier (`luminal doctor --measure`), else now.
LUMINAL_API const Roofline& measured_roofline();

}  // namespace luminal

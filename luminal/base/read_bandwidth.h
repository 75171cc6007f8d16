// How fast this machine reads memory: the bound of every kernel that streams weights.
#pragma once

#include <cstddef>

namespace luminal::base {

struct ReadBandwidth {
  double best = 0;    // GB/s (10^9 bytes) of the fastest pass
  double median = 0;  // GB/s of the median pass: far below `best` on a busy machine
  size_t buffer_bytes = 0;
  unsigned threads = 0;
  unsigned passes = 0;
  // False when memory was too short for a buffer of twice the last-level cache: the cache helped.
  bool beyond_cache = true;
};

// Reads a buffer of 1 GiB (less if memory is short) with this many threads, eight streams each,
// for about `seconds` after filling it; takes under 2 s by default.
ReadBandwidth measure_read_bandwidth(unsigned threads, double seconds = 1.0);

}  // namespace luminal::base

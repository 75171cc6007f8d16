// Streams: how fast threads read and copy buffers of a size of their own.
#pragma once

#include <cstddef>

namespace luminal::machine {

struct StreamRates {
  double read = 0, copy = 0;  // GB/s of all threads; what is read and what is written both count
};

// Each thread has `bytes` of its own; it reads all of them, and copies one half to the other. Takes
// about `seconds` for each of the two.
StreamRates measure_streams(size_t bytes, int threads, double seconds);

// Bytes of a buffer that lies in memory for the most part, all threads together: twice the last
// cache and 256 MB at the least, but an eighth of what is free at the most.
size_t memory_buffer_bytes(size_t last_cache);

}  // namespace luminal::machine

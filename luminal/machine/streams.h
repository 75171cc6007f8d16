// Streams: bandwidth of reading and copying buffers, one buffer per thread.
#pragma once

#include <cstddef>

namespace luminal::machine {

struct StreamRates {
  double read = 0, copy = 0;  // GB/s of all threads; what is read and what is written both count
};

// Each thread has a buffer of `bytes`; it reads the buffer, then copies one half to the other.
// Takes about `seconds` for each of the two.
StreamRates measure_streams(size_t bytes, int threads, double seconds);

// Total buffer size of all threads that mostly misses the caches: at least 256 MB and twice the
// last-level cache, but at most an eighth of the available memory (or 16 MB, if that is more).
size_t memory_buffer_bytes(size_t last_cache);

}  // namespace luminal::machine

// plan_memory: assigns the buffers of a run to offsets in one arena. Buffers that are alive at the
// same time don't overlap; others share memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace luminal::runtime {

// Alignment of the offsets, the same as of owned buffers.
inline constexpr size_t kArenaAlignment = 64;

// A buffer, alive from the step that writes it to the last one that needs it.
struct BufferRequest {
  size_t bytes = 0;
  int first = 0;  // steps, both included
  int last = 0;
  // Requests whose memory this one may reuse in place: step `first` is the last to read them, and
  // reads each element before it writes there.
  std::vector<int> may_take = {};
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // by request
  std::vector<int> took;        // by request: the one whose memory it took over, or −1
  size_t peak = 0;              // bytes of the arena
  size_t needed = 0;            // maximum of bytes alive at one step: a lower bound of `peak`
  size_t unshared = 0;          // the peak if every request had memory of its own
};

// Deterministic. Takes time proportional to the requests and to the pairs of them that are alive
// together.
MemoryPlan plan_memory(std::span<const BufferRequest> requests);

}  // namespace luminal::runtime

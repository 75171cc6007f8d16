// plan_memory: where the buffers of a run lie in one arena, so that those alive at once are apart
// and the others share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace luminal::runtime {

// Offsets are multiples of this, as the starts of owned buffers are.
inline constexpr size_t kArenaAlignment = 64;

// A buffer, alive from the step that writes it to the last one that needs it.
struct BufferRequest {
  size_t bytes = 0;
  int first = 0;  // steps, both included
  int last = 0;
  // Requests whose memory it may take over while step `first` reads them: those that this step is
  // the last to read, and reads in place.
  std::vector<int> may_take = {};
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // by request
  std::vector<int> took;        // by request: the one whose memory it took over, or −1
  size_t peak = 0;              // bytes of the arena
  size_t needed = 0;            // bytes alive at once at the worst step: no arena can be smaller
  size_t unshared = 0;          // what it would be if every request had memory of its own
};

// The same requests give the same plan. Time grows with the requests and with the pairs of them
// that are alive together.
MemoryPlan plan_memory(std::span<const BufferRequest> requests);

}  // namespace luminal::runtime

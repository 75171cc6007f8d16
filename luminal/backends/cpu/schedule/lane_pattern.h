// How an index expression varies across the lanes of one vector. It decides between a broadcast, a
// contiguous load and a gather.
//
// Lane l of a chunk is at position p + l of the vector loop, where p is a multiple of the number of
// lanes. So (i + 64) mod 128 over 16 lanes is contiguous: no chunk crosses the wrap.
#pragma once

#include <optional>

#include "luminal/kernel/ir/loop_id.h"

namespace luminal::backends::cpu {

enum class LaneKind : uint8_t {
  Uniform,  // the same in every lane
  Affine,   // lane 0's value + l · stride
  General,  // anything else
};

struct LanePattern {
  LaneKind kind = LaneKind::Uniform;
  Expr stride = 0;  // of Affine; it doesn't depend on the vector loop
  // The pattern holds from chunk to chunk too: p + d gives the value at p plus d · stride.
  bool across_chunks = true;
};

LanePattern lane_pattern(Expr e, kernel::LoopId vector_loop, int lanes);

// The stride of an address along a loop, if it is affine in it.
std::optional<Expr> step_along(Expr address, kernel::LoopId loop);

// Whether e is a multiple of `divisor` wherever the vector loop's index is a multiple of `lanes`;
// false when unknown.
bool known_multiple(Expr e, int64_t divisor, kernel::LoopId vector_loop, int lanes);

}  // namespace luminal::backends::cpu

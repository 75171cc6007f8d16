// Random graphs that do the same several times over: layers with weights of their own, tensors that
// all of them read, states that each updates, and values that go from one to the next. A seed gives
// the same graph everywhere.
#pragma once

#include "tests/support/random_graph.h"

namespace luminal::tests {

struct RandomLoop {
  RandomGraph made;
  int64_t trips = 0;
};

// 2 to 48 trips. Every trip is built by the same steps, so a part of each that all results need is
// the same, whatever else is around it.
RandomLoop random_loop(RandomSource& random);

}  // namespace luminal::tests

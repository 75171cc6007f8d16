// What a user decides about planning: the search reads these as they are.
#pragma once

#include <cstdint>

namespace luminal {

// Which values kernels hand over in memory, and which they keep to themselves.
enum class FusionPolicy : uint8_t {
  Modelled,  // where the machine's model says that fusing pays
  Always,    // everything that one kernel can hold
  Never,     // every op its own kernel
  Measured,  // patterns (docs/fusion.md) where it was measured to pay, the rest by the model
  Fixed,     // by fixed rules, without a search: a reduction, and the element-wise ops around it
};

// What rules may change about the numbers; each admits those before it. docs/rules.md states them.
enum class Numerics : uint8_t {
  Exact,          // the same bits (NaN is NaN, -0 is not 0)
  Reassociating,  // within the tolerances of docs/numerics.md
  Finite,         // the same where nothing is NaN or infinite and nothing overflows
  Approximate,    // less precise, within the stated error
};

// Whether parts that repeat, as the layers of a model, are planned once. The plan runs every layer
// either way.
enum class Rolling : uint8_t {
  Off,
  Auto,    // layers that hand something to the next, large enough to be worth a boundary
  Always,  // whatever repeats, however small: for tests
};

}  // namespace luminal

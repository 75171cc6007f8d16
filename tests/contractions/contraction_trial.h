// Whether the CPU back end computes a contraction case as the f64 interpreter does, within the
// bounds of bounded_values.h: all elements of a small one, and of a large one the first and last
// row and column, those at the edges of tiles, and others at random.
#pragma once

#include <optional>
#include <string>

#include "tests/contractions/contraction_case.h"

namespace luminal::tests {

struct ContractionVerdict {
  std::optional<std::string> failure = {};
  size_t elements = 0;  // that were compared
  size_t unknown = 0;   // of them, those about which the bounds say nothing
  bool sampled = false;
  size_t kernels = 0, in_panels = 0, by_library = 0;
};

// Bits that may not depend on the number of threads are those of compiled kernels alone.
ContractionVerdict judge(const ContractionCase& one, LibraryPolicy library = LibraryPolicy::Never);

}  // namespace luminal::tests

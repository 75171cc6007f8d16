// Random index expressions, and views with random total maps.
#pragma once

#include <optional>

#include "tests/foreign/builder.h"

namespace luminal::tests::foreign {

// Any value that has one at every position: nested //, %, min, max, and, or, comparisons,
// products, variables, negative divisors, now and then numbers near 2^60.
Index random_index(Builder& builder, const Shape& shape, int depth);

// A view of `x` whose map stays within x's dims; none if there was no luck.
std::optional<int> random_view(Builder& builder, int x, int64_t most_elements);

}  // namespace luminal::tests::foreign

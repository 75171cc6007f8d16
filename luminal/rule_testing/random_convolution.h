// RandomConvolution: the types and maps of a small convolution by 3 × 3 filters, for rules that
// match no other sum of products.
#pragma once

#include "luminal/rule_testing/random_values.h"

namespace luminal::rule_testing {

struct RandomConvolution {
  Dims result;               // [n, 1, o, p, q]
  Expr summed;               // 9 c
  IndexMap windows, filter;  // of the body [n, 1, o, p, q, 9 c] into the input and into the filter
};

RandomConvolution random_convolution(Random& random);

}  // namespace luminal::rule_testing

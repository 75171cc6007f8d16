// The tail of the error function, which erf and erfc share.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal::composite {

// e^(x²)·(1 - erf(x)) of an f64 with 1 ≤ x ≤ 6.
Tensor scaled_erfc(const Tensor& x);

}  // namespace luminal::composite

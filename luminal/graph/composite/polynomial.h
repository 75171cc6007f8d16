// Polynomials of a tensor, for approximating functions.
#pragma once

#include <span>

#include "luminal/graph/tensor.h"

namespace luminal::composite {

// coefficients[0] + coefficients[1]·x + …, by Horner's rule; x is f32 or f64.
Tensor polynomial(const Tensor& x, std::span<const double> coefficients);
// The quotient of two polynomials.
Tensor rational(const Tensor& x, std::span<const double> numerator,
                std::span<const double> denominator);

}  // namespace luminal::composite

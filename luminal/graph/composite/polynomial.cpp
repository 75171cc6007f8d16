#include "luminal/graph/composite/polynomial.h"

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/operands/elementwise.h"

namespace luminal::composite {

Tensor polynomial(const Tensor& x, std::span<const double> coefficients) {
  Tensor result = constant_like(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) result = result * x + coefficients[i];
  return result;
}

Tensor rational(const Tensor& x, std::span<const double> numerator,
                std::span<const double> denominator) {
  return polynomial(x, numerator) / polynomial(x, denominator);
}

}  // namespace luminal::composite

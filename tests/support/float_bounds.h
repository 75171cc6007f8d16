// How far one primitive on floats may be from exact, given how far its operands are.
//
// A back end computes in the declared dtypes, the yardstick in f64. An element is a yardstick value
// and a bound on the back end's distance from it: 0 means exactly that value, infinity that nothing
// is known (a comparison too close to call, an overflow). Bounds follow docs/numerics.md: one
// rounding per op, exp2, log2 and sin within kFunctionUlps of the type they compute in.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "luminal/graph/op.h"
#include "luminal/shape/dtype.h"

namespace luminal::tests {

inline constexpr double kUnknown = std::numeric_limits<double>::infinity();
// What exp2, log2 and sin may be off by, in units of f32's last place (of f64's for f64).
inline constexpr double kFunctionUlps = 2;

struct Bounded {
  double value = 0;
  double error = 0;
};

// The distance from `value` to the next larger magnitude of `dtype`, subnormals included.
double ulp_of(DType dtype, double value);

// The bound of `value` after a rounding to `dtype`, `error` being that of what is rounded.
double rounded(DType dtype, double value, double error);

// The bound of one float op whose yardstick result is `value`. LessThan, Equal and casts to
// integers give 0 or kUnknown.
double bound_of(Op op, DType from, DType to, std::span<const Bounded> operands, double value);

// The bound of a reduction in any order, of the elements added so far.
class ReductionBound {
 public:
  ReductionBound(Reducer reducer, DType dtype) : reducer_(reducer), dtype_(dtype) {}
  void add(const Bounded& element);
  // `value` is the yardstick's.
  double bound(double value) const;

 private:
  double sum_bound(double value) const;
  double product_bound(double value) const;
  double max_bound(double value) const;

  Reducer reducer_;
  DType dtype_;
  int64_t count_ = 0;
  bool unknown_ = false, nan_ = false, infinite_ = false, exact_ = true, exact_zero_ = false;
  double magnitudes_ = 0, errors_ = 0;  // Σ |v| + e, Σ e
  int lowest_bit_ = std::numeric_limits<int>::max();
  double highest_ = 1, product_ = 1;  // Π |v| + e, Π |v|
  double large_ = 1, small_ = 1;      // products of what is above 1, of what is below
  int product_bits_ = 0;
  double upper_ = -kUnknown, lower_ = -kUnknown;  // of the largest
};

}  // namespace luminal::tests

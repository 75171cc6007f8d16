// Real: what an element of a float dtype may be: an interval of long doubles that holds every value
// a back end may give, and whether it may be NaN. -0 lies below +0, so a zero's sign may be known.
#pragma once

#include <cstdint>

#include "luminal/graph/op.h"
#include "luminal/shape/dtype.h"

namespace luminal::tests::foreign {

struct Real {
  long double low = 0, high = 0;  // low above high: no number at all
  bool nan = false;               // may be NaN; is NaN where there is no number

  bool has_numbers() const { return low <= high; }
  bool is_nan() const { return !has_numbers(); }
  // One number, and surely that.
  bool is_point() const;
  // Nothing is known.
  bool is_anything() const;
};

Real point(long double value);
Real nan_only();
Real anything();
Real hull(const Real& a, const Real& b);

// A float dtype's mantissa (with the leading bit) and exponents.
struct Format {
  int bits, least, most;
};
Format format_of(DType dtype);
// The nearest value, ties to even.
long double rounded(DType dtype, long double value);
Real rounded(DType dtype, const Real& x);
// Distance of neighbours about `value`.
long double unit_at(DType dtype, long double value);
// Half of that, relative: 2^-24 for f32.
long double roundoff(DType dtype);

// As if exactly, before any rounding.
Real sum_of(const Real& a, const Real& b);
Real product_of(const Real& a, const Real& b);
Real rest_of(const Real& a, const Real& b);
Real reciprocal_of(const Real& x);
Real root_of(const Real& x);
// With the error that docs/numerics.md allows, computed in `dtype` (f32 or f64).
Real exp2_of(DType dtype, const Real& x);
Real log2_of(DType dtype, const Real& x);
Real sin_of(DType dtype, const Real& x);
// With a relative error added.
Real widened(const Real& x, long double relative);
Real magnitude_of(const Real& x);
// The larger, by ops.def's Max: NaN wins, +0 over -0.
Real greater_of(const Real& a, const Real& b);
// 1, 0, or -1 where it isn't known.
int less_than(const Real& a, const Real& b);
int equal(const Real& a, const Real& b);

// A Sum or Prod in any order, in `dtype`, of what `add` is given.
class Accumulator {
 public:
  Accumulator(Reducer reducer, DType dtype) : reducer_(reducer), dtype_(dtype) {}
  void add(const Real& term);
  // Before the rounding to the result's dtype. `room` is an error beyond that of sums.
  Real result(long double room = 0) const;
  // The sum of the terms' magnitudes.
  long double magnitude() const { return magnitude_; }

 private:
  void add_finite(const Real& term);
  Real sum(long double room) const;
  Real product() const;

  Reducer reducer_;
  DType dtype_;
  int64_t count_ = 0;
  long double low_ = 0, high_ = 0, magnitude_ = 0;
  long double large_ = 1, small_ = 1;  // products of magnitudes from 1 on, and below
  Real product_ = point(1), max_ = {};
  int granularity_ = 100000;  // exponent of the lowest bit of any term
  bool points_ = true, whole_ = true;
  bool plus_ = false, minus_ = false;  // infinities
  bool zero_ = false;                  // among the factors
  bool is_nan_ = false, may_nan_ = false, loose_ = false;
};

}  // namespace luminal::tests::foreign

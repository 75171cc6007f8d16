// Arithmetic: how the interpreter computes floats. The default is the definition of the ops; the
// variations are other results that docs/numerics.md allows a backend.
//
// A value on which all variations agree is well conditioned: a backend must come close to it. If
// they disagree, a single reference can't tell a bug from rounding:
//
//   x = 1e8 + 0.3 in f32: sin(x) differs between Perturbed seeds by up to 2
//   3e38 + 3e38 - 3e38 in f32: 3e38 if Wide, inf if Narrow
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "luminal/graph/interpret/scalar_ops.h"

namespace luminal::interpret {

enum class Variation : uint8_t {
  None,
  Perturbed,  // inexact results move by a few ulp; f32 accumulators, in several partial sums; -0 or
              // 0 for a sum of negative zeros
  Wide,       // no rounding, the range of f64, and 0 · x = 0 for every x
  Narrow,     // f32 accumulators overflow early, and a sum with an infinite term is NaN
};

struct Arithmetic {
  Precision precision = Precision::AsDeclared;
  Variation variation = Variation::None;
  uint64_t seed = 0;  // Perturbed
};

// Like the functions of scalar_ops.h. A perturbation depends only on the value and the seed, so a
// value that is computed twice is equal twice.
void apply(Op op, DType from, DType to, const Arithmetic& arithmetic,
           std::span<Lane* const> operands, Lane* out, int64_t count);
void settle(DType dtype, const Arithmetic& arithmetic, Lane* lanes, int64_t count);

// One accumulation step of a dtype's elements; the result is stored as `kept`. Without a variation
// it isn't rounded.
Lane combine(const Arithmetic& arithmetic, Reducer reducer, DType dtype, DType kept, Lane so_far,
             Lane value);

// Reduces rows one after the other: restart(), take() for each element, then total() or, at any
// position of a scan, so_far(). Both return values of the dtype.
class Accumulator {
 public:
  Accumulator(const Arithmetic& arithmetic, Reducer reducer, DType dtype);

  void restart();
  void take(int64_t k, Lane value);
  void scan(Lane value) { take(0, value); }
  Lane total();
  Lane so_far() const { return settled(partial_[0]); }

 private:
  Lane combined(Lane so_far, Lane value);
  Lane settled(Lane value) const;

  static constexpr size_t kMostPartials = 16;

  Arithmetic arithmetic_;
  Reducer reducer_;
  DType dtype_;
  DType kept_;         // dtype of partial sums
  uint64_t mask_ = 0;  // number of partial sums − 1
  std::array<Lane, kMostPartials> partial_;
  bool inexact_ = false;  // some accumulation step was rounded
};

}  // namespace luminal::interpret

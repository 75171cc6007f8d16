#include "luminal/graph/interpret/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "luminal/base/hash.h"
#include "luminal/shape/float_format.h"
#include "luminal/shape/scalar.h"

namespace luminal::interpret {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// By dtype: the maximum relative and absolute change by Perturbed, and where Narrow overflows.
struct FloatLimits {
  double relative, smallest, narrow;
};

// A sum may overflow in one order and not in another, and Σ q·x may where scale·Σ q·x doesn't: so
// f32 overflows at 2^-16 of its range. f16 is computed in f32: only its own limit is in doubt.
FloatLimits limits_of(DType dtype) {
  const FloatFormat format = float_format(dtype);
  const double ulps = is_half(dtype) ? 1 : 2;  // halves are computed in f32 and round once
  const bool ends_early = format.max_exponent < float_format(DType::F32).max_exponent;
  return {
      .relative = ulps * format.ulp(),
      .smallest = format.smallest(),
      .narrow = ends_early ? format.largest() * (1 - 0x1p-7) : two_to(format.max_exponent - 15)};
}

// In f64, integers count as exact; for other values exactness can't be determined in f64.
bool is_exact(DType dtype, double value) {
  if (dtype == DType::F64) return value == std::floor(value) && std::fabs(value) < 0x1p53;
  return round_to(dtype, value) == value;
}

double perturbed(DType dtype, double value, uint64_t seed) {
  if (!std::isfinite(value) || value == 0) return value;
  const uint64_t random = base::combine(seed, std::bit_cast<uint64_t>(value));
  const double by = static_cast<double>(static_cast<int64_t>(random)) * 0x1p-63;  // −1 … 1
  const FloatLimits limits = limits_of(dtype);
  return value + by * (std::fabs(value) * limits.relative + limits.smallest);
}

double narrowed(DType dtype, double value) {
  return std::fabs(value) > limits_of(dtype).narrow ? std::copysign(kInfinite, value) : value;
}

// Ops whose float results have a backend-specific error. All others are exact or rounded once.
bool may_differ(Op op) {
  return op != Op::Cast && op != Op::Bitcast && op != Op::Select && op != Op::Mod;
}

Precision precision_of(const Arithmetic& arithmetic) {
  const bool exact =
      arithmetic.variation == Variation::Perturbed || arithmetic.variation == Variation::Wide;
  return exact ? Precision::Float64 : arithmetic.precision;
}

}  // namespace

void settle(DType dtype, const Arithmetic& arithmetic, Lane* lanes, int64_t count) {
  const bool wide = arithmetic.variation == Variation::Wide;
  settle(dtype, wide ? Precision::Float64 : arithmetic.precision, lanes, count);
}

void apply(Op op, DType from, DType to, const Arithmetic& arithmetic,
           std::span<Lane* const> operands, Lane* out, int64_t count) {
  const bool varies = arithmetic.variation != Variation::None && is_float(to);
  if (!varies || op == Op::Select || op == Op::Bitcast) {
    return apply(op, from, to, arithmetic.precision, operands, out, count);
  }
  apply(op, from, to, precision_of(arithmetic), operands, out, count);
  switch (arithmetic.variation) {
    case Variation::None:
      break;
    case Variation::Perturbed:
      for (int64_t j = 0; j < count; ++j) {
        double& value = out[j].real;
        if (may_differ(op) && !is_exact(to, value)) value = perturbed(to, value, arithmetic.seed);
      }
      settle(to, arithmetic.precision, out, count);
      break;
    case Variation::Wide:
      if (op != Op::Mul) break;
      for (int64_t j = 0; j < count; ++j) {
        if (operands[0][j].real == 0 || operands[1][j].real == 0) out[j].real = 0;
      }
      break;
    case Variation::Narrow:
      for (int64_t j = 0; j < count; ++j) out[j].real = narrowed(to, out[j].real);
      break;
  }
}

Lane combine(const Arithmetic& arithmetic, Reducer reducer, DType dtype, DType kept, Lane so_far,
             Lane value) {
  Lane result = accumulate(reducer, dtype, so_far, value);
  if (!is_float(dtype) || reducer == Reducer::Max) return result;
  switch (arithmetic.variation) {
    case Variation::None:
      break;
    case Variation::Perturbed:
      result.real = round_to(kept, result.real);
      break;
    case Variation::Wide:
      if (reducer == Reducer::Prod && (so_far.real == 0 || value.real == 0)) result.real = 0;
      break;
    case Variation::Narrow:
      result.real = narrowed(kept, round_to(kept, result.real));
      if (reducer == Reducer::Sum && std::isinf(value.real)) result.real = std::nan("");
      break;
  }
  return result;
}

Accumulator::Accumulator(const Arithmetic& arithmetic, Reducer reducer, DType dtype)
    : arithmetic_(arithmetic),
      reducer_(reducer),
      dtype_(dtype),
      kept_(is_half(dtype) ? DType::F32 : dtype) {
  if (!is_float(dtype)) arithmetic_.variation = Variation::None;
  // 1, 2, 4, 8 or 16 partial sums, as in vectorised and unrolled loops.
  if (arithmetic_.variation == Variation::Perturbed) {
    mask_ = (uint64_t{1} << arithmetic_.seed % 5) - 1;
  }
  restart();
}

void Accumulator::restart() {
  Lane start = identity(reducer_, dtype_);
  // A sum of negative zeros is -0 if it doesn't start from 0, for example a sum of a single term.
  const bool perturbed = arithmetic_.variation == Variation::Perturbed;
  if (perturbed && reducer_ == Reducer::Sum && arithmetic_.seed % 2 == 1) start.real = -0.0;
  std::fill_n(partial_.begin(), mask_ + 1, start);
  inexact_ = false;
}

void Accumulator::take(int64_t k, Lane value) {
  Lane& partial = partial_[static_cast<uint64_t>(k) & mask_];
  partial = combined(partial, value);
}

Lane Accumulator::combined(Lane so_far, Lane value) {
  if (arithmetic_.variation == Variation::Perturbed && reducer_ != Reducer::Max) {
    const double exact = accumulate(reducer_, dtype_, so_far, value).real;
    inexact_ |= kept_ == DType::F64 ? !is_exact(kept_, exact)
                                    : round_to(kept_, exact) != exact && !std::isnan(exact);
  }
  return combine(arithmetic_, reducer_, dtype_, kept_, so_far, value);
}

Lane Accumulator::total() {
  Lane all = partial_[0];
  for (uint64_t p = 1; p <= mask_; ++p) all = combined(all, partial_[p]);
  return settled(all);
}

Lane Accumulator::settled(Lane value) const {
  if (arithmetic_.variation == Variation::Perturbed && reducer_ != Reducer::Max && inexact_) {
    value.real = perturbed(kept_, value.real, arithmetic_.seed);
  }
  settle(dtype_, arithmetic_, &value, 1);
  if (arithmetic_.variation == Variation::Narrow) value.real = narrowed(dtype_, value.real);
  return value;
}

}  // namespace luminal::interpret

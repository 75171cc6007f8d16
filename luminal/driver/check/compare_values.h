// Compares what a kernel stored with a reference, and judges only elements that can be judged.
//
// A fixed tolerance finds what may be wrong. Those elements are then computed again with other
// arithmetic that a backend may use (interpret::Variation). An element passes when it lies within
// a few times the spread of these references, or when they disagree on NaN, infinity or finite:
//
//   sin of an f16 sum of about 1000: references 0.83, -0.12, 0.4: any result passes
//   the bits of an f32 sum, as i32: references differ by 3: 10 off passes, 1000 off doesn't
//
// Where the references agree, the result is wrong. They are only computed if something looks wrong.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "luminal/driver/check/step_fault.h"
#include "luminal/graph/interpret/arithmetic.h"
#include "luminal/graph/tensor_data.h"

namespace luminal {

// A reference computed with another arithmetic.
using VariedReference = std::function<TensorData(const interpret::Arithmetic&)>;

// How far values may be off: by the least precise dtype they are computed in, by the largest
// magnitude inside of the kernel, and by the error that they inherit from inputs.
struct Allowance {
  DType least;
  double inside = 0;
  double inherited = 0;
};

struct ValueComparison {
  const TensorData& found;
  const TensorData& expected;
  Allowance allowance;
  // Whether integers and bool may depend on rounding.
  bool may_turn = false;
  // Whether floats may be made of the bits of others: one last bit can then change them
  // arbitrarily.
  bool bits_decide = false;
  // The elements to compare, in row-major order; null: all.
  const std::vector<int64_t>* at = nullptr;
  // Empty: the tolerance alone decides.
  VariedReference varied = nullptr;
};

// The wrong elements; nullopt if there are none.
std::optional<WrongElements> compare_values(const ValueComparison& comparison);

// Tolerance of one dtype, relative to the value and to the largest one of its tensor; 0 for
// integers and bool.
double step_tolerance(DType dtype);

// The byte that outputs hold before a kernel runs: NaN in every float.
inline constexpr auto kPoison = std::byte{0xFF};

}  // namespace luminal

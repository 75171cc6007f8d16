#include "luminal/graph/interpret/scalar_ops.h"

#include <cmath>
#include <limits>

#include "luminal/base/check.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/shape/scalar.h"

namespace luminal::interpret {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Wrapping arithmetic: signed overflow is undefined in C++, unsigned overflow wraps.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t int_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrapping_mul(a, -1);
  return a / b;
}

int64_t int_mod(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return a % b;
}

template <typename Function>
void map_real(std::span<Lane* const> in, Lane* out, int64_t count, Function function) {
  for (int64_t j = 0; j < count; ++j) out[j].real = function(in[0][j].real);
}
template <typename Function>
void map_reals(std::span<Lane* const> in, Lane* out, int64_t count, Function function) {
  for (int64_t j = 0; j < count; ++j) out[j].real = function(in[0][j].real, in[1][j].real);
}
template <typename Function>
void map_integers(std::span<Lane* const> in, Lane* out, int64_t count, Function function) {
  for (int64_t j = 0; j < count; ++j) {
    out[j].integer = function(in[0][j].integer, in[1][j].integer);
  }
}

void apply_on_floats(FloatOp op, std::span<Lane* const> in, Lane* out, int64_t count) {
  switch (op) {
    case FloatOp::Exp2:
      return map_real(in, out, count, [](double x) { return std::exp2(x); });
    case FloatOp::Log2:
      return map_real(in, out, count, [](double x) { return std::log2(x); });
    case FloatOp::Sin:
      return map_real(in, out, count, [](double x) { return std::sin(x); });
    case FloatOp::Recip:
      return map_real(in, out, count, [](double x) { return 1.0 / x; });
    case FloatOp::Sqrt:
      return map_real(in, out, count, [](double x) { return std::sqrt(x); });
    case FloatOp::Add:
      return map_reals(in, out, count, [](double a, double b) { return a + b; });
    case FloatOp::Mul:
      return map_reals(in, out, count, [](double a, double b) { return a * b; });
    case FloatOp::Mod:
      return map_reals(in, out, count, [](double a, double b) { return std::fmod(a, b); });
    case FloatOp::LessThan:
      for (int64_t j = 0; j < count; ++j) out[j].integer = in[0][j].real < in[1][j].real;
      return;
    case FloatOp::Equal:
      for (int64_t j = 0; j < count; ++j) out[j].integer = in[0][j].real == in[1][j].real;
      return;
  }
}

void apply_on_integers(IntegerOp op, std::span<Lane* const> in, Lane* out, int64_t count) {
  switch (op) {
    case IntegerOp::Add:
      return map_integers(in, out, count, wrapping_add);
    case IntegerOp::Mul:
      return map_integers(in, out, count, wrapping_mul);
    case IntegerOp::Mod:
      return map_integers(in, out, count, int_mod);
    case IntegerOp::IntDiv:
      return map_integers(in, out, count, int_div);
    case IntegerOp::BitAnd:
      return map_integers(in, out, count, [](int64_t a, int64_t b) { return a & b; });
    case IntegerOp::LessThan:
      return map_integers(in, out, count, [](int64_t a, int64_t b) -> int64_t { return a < b; });
    case IntegerOp::Equal:
      return map_integers(in, out, count, [](int64_t a, int64_t b) -> int64_t { return a == b; });
  }
}

void apply_arithmetic(Op op, DType dtype, std::span<Lane* const> in, Lane* out, int64_t count) {
  if (is_float(dtype)) {
    const std::optional<FloatOp> known = float_op(op);
    LUMINAL_CHECK(known, std::string(name(op)) + " is not defined on floats");
    apply_on_floats(*known, in, out, count);
  } else {
    const std::optional<IntegerOp> known = integer_op(op);
    LUMINAL_CHECK(known, std::string(name(op)) + " is not defined on integers");
    apply_on_integers(*known, in, out, count);
  }
}

void cast(DType from, DType to, Precision precision, std::span<Lane* const> in, Lane* out,
          int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    if (is_float(from) == is_float(to)) {
      out[j] = in[0][j];
    } else if (is_float(from)) {
      out[j].integer = float_to_int(to, in[0][j].real);
    } else if (to == DType::F32 && precision == Precision::AsDeclared) {
      out[j].real = static_cast<float>(in[0][j].integer);  // double would round twice
    } else {
      out[j].real = static_cast<double>(in[0][j].integer);
    }
  }
}

// The bits of a value of `dtype`, in the low bits of an integer.
uint64_t to_bits(DType dtype, Lane lane) {
  return is_float(dtype) ? float_bits(dtype, lane.real) : static_cast<uint64_t>(lane.integer);
}

Lane from_bits(DType dtype, uint64_t bits) {
  if (is_float(dtype)) return {.real = float_value(dtype, bits)};
  return {.integer = wrap_to(dtype, static_cast<int64_t>(bits))};
}

double max_of(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

}  // namespace

void settle(DType dtype, Precision precision, Lane* lanes, int64_t count) {
  if (is_float(dtype)) {
    if (precision == Precision::Float64 || dtype == DType::F64) return;
    for (int64_t j = 0; j < count; ++j) lanes[j].real = round_to(dtype, lanes[j].real);
  } else if (dtype != DType::I64) {
    for (int64_t j = 0; j < count; ++j) lanes[j].integer = wrap_to(dtype, lanes[j].integer);
  }
}

void apply(Op op, DType from, DType to, Precision precision, std::span<Lane* const> operands,
           Lane* out, int64_t count) {
  if (op == Op::Select) {
    for (int64_t j = 0; j < count; ++j) {
      out[j] = operands[0][j].integer ? operands[1][j] : operands[2][j];
    }
    return;
  }
  if (op == Op::Bitcast) {
    for (int64_t j = 0; j < count; ++j) out[j] = from_bits(to, to_bits(from, operands[0][j]));
    return;
  }
  if (op == Op::Cast) {
    cast(from, to, precision, operands, out, count);
  } else {
    apply_arithmetic(op, from, operands, out, count);
  }
  settle(to, precision, out, count);
}

Lane identity(Reducer reducer, DType dtype) {
  switch (reducer) {
    case Reducer::Sum:
      return is_float(dtype) ? Lane{.real = 0} : Lane{.integer = 0};
    case Reducer::Prod:
      return is_float(dtype) ? Lane{.real = 1} : Lane{.integer = 1};
    case Reducer::Max:
      if (is_float(dtype)) return {.real = -kInfinity};
      if (is_unsigned(dtype)) return {.integer = 0};
      return {.integer = -(int64_t{1} << (bits(dtype) - 2)) * 2};  // −2^(bits−1) without overflow
  }
  return {};
}

Lane accumulate(Reducer reducer, DType dtype, Lane so_far, Lane value) {
  const bool real = is_float(dtype);
  switch (reducer) {
    case Reducer::Sum:
      if (real) return {.real = so_far.real + value.real};
      if (dtype == DType::Bool) return {.integer = so_far.integer | value.integer};
      return {.integer = wrapping_add(so_far.integer, value.integer)};
    case Reducer::Prod:
      if (real) return {.real = so_far.real * value.real};
      return {.integer = wrapping_mul(so_far.integer, value.integer)};
    case Reducer::Max:
      if (real) return {.real = max_of(so_far.real, value.real)};
      return {.integer = std::max(so_far.integer, value.integer)};
  }
  return {};
}

}  // namespace luminal::interpret

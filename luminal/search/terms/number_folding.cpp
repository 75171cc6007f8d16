#include "luminal/search/terms/number_folding.h"

#include <cmath>
#include <limits>

#include "luminal/graph/interpret/scalar_ops.h"
#include "luminal/shape/float_format.h"
#include "luminal/shape/scalar.h"

namespace luminal::search {
namespace {

using interpret::Lane;

Lane lane_of(const Number& number) {
  if (is_float(number.dtype)) return {.real = number.real};
  return {.integer = number.integer};
}

Number number_of(DType dtype, Lane lane) {
  if (!is_float(dtype)) return {dtype, 0, lane.integer};
  // NaNs are canonicalised, so that equal constants are one class.
  if (std::isnan(lane.real)) return {dtype, std::numeric_limits<double>::quiet_NaN(), 0};
  return {dtype, lane.real, 0};
}

// Whether constants of `dtype` are cast, or have bits to be read as another dtype's.
bool converts(Op op, DType dtype) {
  if (op == Op::Cast) return kind(dtype) != DTypeKind::Packed;
  return op == Op::Bitcast && (is_float(dtype) || is_int(dtype));
}

Number apply(Op op, DType to, std::span<const Number> operands) {
  std::vector<Lane> lanes;
  for (const Number& operand : operands) lanes.push_back(lane_of(operand));
  std::vector<Lane*> at;
  for (Lane& lane : lanes) at.push_back(&lane);
  Lane result{};
  interpret::apply(op, operands.front().dtype, to, interpret::Precision::AsDeclared, at, &result,
                   1);
  return number_of(to, result);
}

}  // namespace

bool adds_nothing(const Number& c) {
  return is_float(c.dtype) ? c.real == 0 && std::signbit(c.real) : c.integer == 0;
}
bool is_float_zero(const Number& c) { return is_float(c.dtype) && c.real == 0; }
bool is_one(const Number& c) { return is_float(c.dtype) ? c.real == 1 : c.integer == 1; }
bool is_integer_zero(const Number& c) { return !is_float(c.dtype) && c.integer == 0; }
bool is_true(const Number& c) { return c.dtype == DType::Bool && c.integer != 0; }
bool is_false(const Number& c) { return c.dtype == DType::Bool && c.integer == 0; }
bool has_all_bits(const Number& c) {
  return is_int(c.dtype) && c.integer == wrap_to(c.dtype, int64_t{-1});
}

std::optional<Number> rest_by_unit(const Number& c) {
  if (!is_int(c.dtype) || (c.integer != 1 && c.integer != -1)) return std::nullopt;
  return Number{c.dtype, 0, 0};
}

std::optional<Number> normal_product(const Number& a, const Number& b) {
  std::optional<Number> product = fold(name(Op::Mul), {a, b});
  if (!product || !is_float(product->dtype)) return product;
  const double least = float_format(product->dtype).smallest_normal();
  if (!std::isfinite(product->real) || std::abs(product->real) < least) return std::nullopt;
  return product;
}

std::optional<Number> fold(std::string_view op, std::initializer_list<Number> operands) {
  const std::optional<Op> known = op_from_name(op);
  if (!known || arity(*known) != static_cast<int>(operands.size())) return std::nullopt;
  const DType dtype = operands.begin()->dtype;
  if (!takes(*known, dtype)) return std::nullopt;
  for (const Number& operand : operands) {
    if (operand.dtype != dtype) return std::nullopt;
  }
  return apply(*known, gives_bool(*known) ? DType::Bool : dtype, operands);
}

std::optional<Number> fold_to(std::string_view op, std::string_view dtype, const Number& operand) {
  const std::optional<Op> known = op_from_name(op);
  const std::optional<DType> to = dtype_from_name(dtype);
  if (!known || !to || !converts(*known, operand.dtype) || !converts(*known, *to)) {
    return std::nullopt;
  }
  if (known == Op::Bitcast && bits(*to) != bits(operand.dtype)) return std::nullopt;
  const Number result = apply(*known, *to, std::span(&operand, 1));
  if (known != Op::Bitcast) return result;
  // A Number holds one canonical NaN: the bits of others are lost.
  const bool has_nan = (is_float(operand.dtype) && std::isnan(operand.real)) ||
                       (is_float(*to) && std::isnan(result.real));
  if (has_nan) return std::nullopt;
  return result;
}

std::optional<Number> empty_reduction(std::string_view reducer, Expr extent, DType dtype) {
  const std::optional<Reducer> known = reducer_from_name(reducer);
  if (!known || !extent.is(0) || dtype == DType::U4) return std::nullopt;
  return number_of(dtype, interpret::identity(*known, dtype));
}

std::optional<Number> index_constant(Expr expr, DType dtype) {
  const std::optional<int64_t> value = expr.to_int();
  if (!value || dtype == DType::U4) return std::nullopt;
  const Number wide{DType::I64, 0, *value};
  if (dtype == DType::I64) return wide;
  return apply(Op::Cast, dtype, std::span(&wide, 1));
}

}  // namespace luminal::search

// What rules ask about constants, and constants folded by the interpreter's own ops: the bits are
// those it would compute.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "luminal/search/terms/terms.h"

namespace luminal::search {

// x + c has the bits of x, whatever x: for floats that is -0.
bool adds_nothing(const Number& c);
bool is_float_zero(const Number& c);
bool is_one(const Number& c);           // true for bool
bool is_integer_zero(const Number& c);  // false for bool
bool is_true(const Number& c);          // of bool
bool is_false(const Number& c);
bool has_all_bits(const Number& c);  // of an integer

// x mod c for every x, where c is an integer's 1 or -1.
std::optional<Number> rest_by_unit(const Number& c);
// The product, unless it is no normal number.
std::optional<Number> normal_product(const Number& a, const Number& b);
// An element-wise primitive of constants; none where it isn't defined on their dtypes.
std::optional<Number> fold(std::string_view op, std::initializer_list<Number> operands);
// Cast and Bitcast; none of a NaN whose bits would be lost.
std::optional<Number> fold_to(std::string_view op, std::string_view dtype, const Number& operand);
// The value of a reduction over no elements; none where `extent` isn't known to be 0.
std::optional<Number> empty_reduction(std::string_view reducer, Expr extent, DType dtype);
// The value of an index expression that is the same everywhere.
std::optional<Number> index_constant(Expr expr, DType dtype);

}  // namespace luminal::search

// Predicates on constants for rules, and constant folding by the interpreter's own ops: results are
// bit-identical to what it would compute.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "luminal/search/terms/terms.h"

namespace luminal::search {

// Whether x + c is bit-identical to x for every x: for floats, c is -0.
bool adds_nothing(const Number& c);
bool is_float_zero(const Number& c);
bool is_one(const Number& c);           // true for bool
bool is_integer_zero(const Number& c);  // false for bool
bool is_true(const Number& c);          // of bool
bool is_false(const Number& c);
bool has_all_bits(const Number& c);  // all bits of an integer are set

// x mod c, which is 0 for every x, if c is the integer 1 or -1.
std::optional<Number> rest_by_unit(const Number& c);
// The product; nullopt if it is a float that isn't a normal number.
std::optional<Number> normal_product(const Number& a, const Number& b);
// An element-wise primitive of constants; nullopt if it isn't defined on their dtypes.
std::optional<Number> fold(std::string_view op, std::initializer_list<Number> operands);
// Cast and Bitcast; nullopt for a NaN whose bits would be lost.
std::optional<Number> fold_to(std::string_view op, std::string_view dtype, const Number& operand);
// The value of a reduction over no elements; nullopt if `extent` isn't known to be 0.
std::optional<Number> empty_reduction(std::string_view reducer, Expr extent, DType dtype);
// The value of an index expression that is the same everywhere.
std::optional<Number> index_constant(Expr expr, DType dtype);

}  // namespace luminal::search

// Op: the primitives as an enumeration, and what the table says about each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/shape/dtype.h"

namespace luminal {

enum class Op : uint8_t {
#define OP(name, ...) name,
#include "luminal/graph/ops.def"
#undef OP
};

enum class OpClass : uint8_t {
  Leaf,
  Unary,
  Convert,
  Movement,
  Binary,
  Comparison,  // a Binary that gives bool
  Ternary,
  Reduction,
  Indexing,
  Custom
};

// The dtypes that operands of arithmetic may have.
enum class OperandKind : uint8_t {
  None,      // the op has a type rule of its own
  Any,       // all that compute: not u4
  Floats,    // floats alone
  Numbers,   // floats and integers
  Integers,  // integers alone, not bool
};

// What a Reduce or Scan combines with; ops.def states their identities and NaN rules.
enum class Reducer : uint8_t { Sum, Prod, Max };

LUMINAL_API std::span<const Op> all_ops();
LUMINAL_API std::string_view name(Op op);  // "less_than"
LUMINAL_API std::optional<Op> op_from_name(std::string_view text);
LUMINAL_API OpClass op_class(Op op);
// The number of inputs; −1 where it varies (Custom).
LUMINAL_API int arity(Op op);
// Whether an element of the result depends on the operands' elements at its own index alone.
LUMINAL_API bool is_elementwise(Op op);
LUMINAL_API OperandKind operand_kind(Op op);
// Whether arithmetic takes operands of this dtype; false for ops with a type rule of their own.
LUMINAL_API bool takes(Op op, DType dtype);
// Whether the result is bool, whatever the operands are: LessThan, Equal.
inline bool gives_bool(Op op) { return op_class(op) == OpClass::Comparison; }
// Cost of one element in additions; transcendental functions are expensive.
LUMINAL_API int flops_of(Op op);
// Whether both operands may change places.
LUMINAL_API bool commutes(Op op);
LUMINAL_API std::span<const Reducer> all_reducers();
LUMINAL_API std::string_view name(Reducer reducer);  // "sum"
LUMINAL_API std::optional<Reducer> reducer_from_name(std::string_view text);

}  // namespace luminal

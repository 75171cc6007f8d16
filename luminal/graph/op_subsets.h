// Parts of Op as enumerations of their own, with the values that Op gives them. A switch over one
// is complete without the ops of the others, and the compiler still lists it when ops.def gets a
// row that belongs there.
#pragma once

#include <optional>

#include "luminal/graph/op.h"

namespace luminal {

#define LUMINAL_MEMBER(name) name = static_cast<uint8_t>(Op::name),
#define LUMINAL_NO_MEMBER(name)

// The ops that aren't element-wise.
#define LUMINAL_STRUCTURAL_Leaf LUMINAL_MEMBER
#define LUMINAL_STRUCTURAL_Movement LUMINAL_MEMBER
#define LUMINAL_STRUCTURAL_Reduction LUMINAL_MEMBER
#define LUMINAL_STRUCTURAL_Indexing LUMINAL_MEMBER
#define LUMINAL_STRUCTURAL_Custom LUMINAL_MEMBER
#define LUMINAL_STRUCTURAL_Unary LUMINAL_NO_MEMBER
#define LUMINAL_STRUCTURAL_Convert LUMINAL_NO_MEMBER
#define LUMINAL_STRUCTURAL_Binary LUMINAL_NO_MEMBER
#define LUMINAL_STRUCTURAL_Comparison LUMINAL_NO_MEMBER
#define LUMINAL_STRUCTURAL_Ternary LUMINAL_NO_MEMBER
enum class StructuralOp : uint8_t {
#define OP(name, text, arity, op_class, ...) LUMINAL_STRUCTURAL_##op_class(name)
#include "luminal/graph/ops.def"
#undef OP
};

// Arithmetic that takes floats.
#define LUMINAL_ON_FLOATS_None LUMINAL_NO_MEMBER
#define LUMINAL_ON_FLOATS_Any LUMINAL_MEMBER
#define LUMINAL_ON_FLOATS_Floats LUMINAL_MEMBER
#define LUMINAL_ON_FLOATS_Numbers LUMINAL_MEMBER
#define LUMINAL_ON_FLOATS_Integers LUMINAL_NO_MEMBER
enum class FloatOp : uint8_t {
#define OP(name, text, arity, op_class, operands, ...) LUMINAL_ON_FLOATS_##operands(name)
#include "luminal/graph/ops.def"
#undef OP
};

// Arithmetic that takes integers, and bool where it takes any.
#define LUMINAL_ON_INTEGERS_None LUMINAL_NO_MEMBER
#define LUMINAL_ON_INTEGERS_Any LUMINAL_MEMBER
#define LUMINAL_ON_INTEGERS_Floats LUMINAL_NO_MEMBER
#define LUMINAL_ON_INTEGERS_Numbers LUMINAL_MEMBER
#define LUMINAL_ON_INTEGERS_Integers LUMINAL_MEMBER
enum class IntegerOp : uint8_t {
#define OP(name, text, arity, op_class, operands, ...) LUMINAL_ON_INTEGERS_##operands(name)
#include "luminal/graph/ops.def"
#undef OP
};

// None for element-wise ops.
inline std::optional<StructuralOp> structural_op(Op op) {
  if (is_elementwise(op)) return std::nullopt;
  return static_cast<StructuralOp>(op);
}

// None where the op isn't defined on floats, or on integers.
inline std::optional<FloatOp> float_op(Op op) {
  if (!takes(op, DType::F64)) return std::nullopt;
  return static_cast<FloatOp>(op);
}
inline std::optional<IntegerOp> integer_op(Op op) {
  if (!takes(op, DType::I64)) return std::nullopt;
  return static_cast<IntegerOp>(op);
}

}  // namespace luminal

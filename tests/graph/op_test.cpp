// What ops.def says of each primitive, and the parts of Op that follow from it.
#include "luminal/graph/op.h"

#include <gtest/gtest.h>

#include "luminal/graph/op_subsets.h"

namespace luminal {
namespace {

TEST(Op, IsElementwiseOrStructural) {
  for (Op op : all_ops()) {
    const std::optional<StructuralOp> structural = structural_op(op);
    EXPECT_NE(is_elementwise(op), structural.has_value()) << name(op);
    EXPECT_EQ(structural ? static_cast<Op>(*structural) : op, op);
  }
  EXPECT_TRUE(is_elementwise(Op::Cast));
  EXPECT_FALSE(is_elementwise(Op::View));
}

TEST(Op, DtypesOfArithmeticAreInTheTable) {
  for (Op op : all_ops()) {
    const OpClass of = op_class(op);
    const bool arithmetic =
        of == OpClass::Unary || of == OpClass::Binary || of == OpClass::Comparison;
    EXPECT_EQ(operand_kind(op) != OperandKind::None, arithmetic) << name(op);
    EXPECT_EQ(float_op(op).has_value(), takes(op, DType::F16)) << name(op);
    EXPECT_EQ(integer_op(op).has_value(), takes(op, DType::U8)) << name(op);
    EXPECT_FALSE(takes(op, DType::U4)) << name(op);
  }
  EXPECT_TRUE(takes(Op::Add, DType::Bool));
  EXPECT_FALSE(takes(Op::Mod, DType::Bool));
  EXPECT_FALSE(takes(Op::Sqrt, DType::I32));
  EXPECT_FALSE(takes(Op::BitAnd, DType::F32));
}

TEST(Op, CommutesOnlyWithTwoOperands) {
  for (Op op : all_ops()) {
    EXPECT_TRUE(!commutes(op) || arity(op) == 2) << name(op);
  }
  EXPECT_TRUE(commutes(Op::Equal));
  EXPECT_FALSE(commutes(Op::LessThan));
}

TEST(Op, ComparisonsGiveBool) {
  EXPECT_TRUE(gives_bool(Op::LessThan));
  EXPECT_TRUE(gives_bool(Op::Equal));
  EXPECT_FALSE(gives_bool(Op::BitAnd));
}

}  // namespace
}  // namespace luminal

// Every element-wise primitive in every dtype it takes, against the interpreter's scalar ops.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;

const int64_t kSizes[] = {0, 1, 3, 15, 16, 17, 64, 131, 4097};
const DType kFloats[] = {DType::F64, DType::F32, DType::F16, DType::BF16};
const DType kInts[] = {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8};
const DType kComputed[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                           DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

// out[i] = op(inputs[i]…) over a symbolic length.
kernel::Kernel pointwise_of(Op op, std::vector<DType> inputs, DType to) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  for (DType dtype : inputs) b.param(dtype, {n});
  ParamId y = b.param(to, {n}, true);
  Expr i = b.outer(n);
  auto s = b.stage(to);
  std::vector<InstId> operands;
  for (size_t k = 0; k < inputs.size(); ++k) operands.push_back(s.load(b.k, ParamId::at(k), {i}));
  s.op(op, to, operands);
  b.output(y, {i});
  return b.done();
}

void check_op(Op op, std::vector<DType> inputs, DType to, Tolerance tolerance = {}) {
  SCOPED_TRACE(std::string(name(op)) + " " + std::string(name(inputs.back())) + " to " +
               std::string(name(to)));
  kernel::Kernel kernel = pointwise_of(op, inputs, to);
  for (int64_t n : kSizes) {
    expect_like_reference(kernel, {n}, tolerance, Fill::Special, static_cast<uint64_t>(n) + 1);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(EmitOps, UnaryFloats) {
  for (DType dtype : kFloats) {
    const double near = dtype == DType::F32 ? 2 : 1;
    for (Op op : {Op::Exp2, Op::Log2, Op::Sin}) check_op(op, {dtype}, dtype, {.ulps = near});
    for (Op op : {Op::Recip, Op::Sqrt}) check_op(op, {dtype}, dtype);
  }
}

TEST(EmitOps, BinaryFloats) {
  for (DType dtype : kFloats) {
    for (Op op : {Op::Add, Op::Mul, Op::Mod}) check_op(op, {dtype, dtype}, dtype);
    for (Op op : {Op::LessThan, Op::Equal}) check_op(op, {dtype, dtype}, DType::Bool);
  }
}

TEST(EmitOps, BinaryIntegers) {
  for (DType dtype : kInts) {
    for (Op op : {Op::Add, Op::Mul, Op::Mod, Op::IntDiv, Op::BitAnd}) {
      check_op(op, {dtype, dtype}, dtype);
    }
    for (Op op : {Op::LessThan, Op::Equal}) check_op(op, {dtype, dtype}, DType::Bool);
  }
}

TEST(EmitOps, BinaryBools) {
  for (Op op : {Op::Add, Op::Mul, Op::LessThan, Op::Equal}) {
    check_op(op, {DType::Bool, DType::Bool}, DType::Bool);
  }
}

TEST(EmitOps, SelectInAllDTypes) {
  for (DType dtype : kComputed) check_op(Op::Select, {DType::Bool, dtype, dtype}, dtype);
}

TEST(EmitOps, CastsBetweenAllDTypes) {
  for (DType from : kComputed) {
    for (DType to : kComputed) check_op(Op::Cast, {from}, to);
  }
  for (DType to : kComputed) check_op(Op::Cast, {DType::U4}, to);
}

TEST(EmitOps, BitcastsOfEqualWidth) {
  for (DType from : kComputed) {
    for (DType to : kComputed) {
      if (from == to || from == DType::Bool || to == DType::Bool || bits(from) != bits(to))
        continue;
      // NaNs don't keep their payload on the way through f32.
      if (is_float(from)) {
        kernel::Kernel kernel = pointwise_of(Op::Bitcast, {from}, to);
        for (int64_t n : kSizes) expect_like_reference(kernel, {n}, {}, Fill::Usual);
      } else {
        check_op(Op::Bitcast, {from}, to);
      }
    }
  }
}

TEST(EmitOps, DivisionByConstants) {
  for (DType dtype : kInts) {
    for (int64_t divisor : {0, 1, -1, 2, 3, -7, 100}) {
      for (Op op : {Op::IntDiv, Op::Mod}) {
        KernelBuilder b;
        Expr n = Expr::var("n");
        ParamId x = b.param(dtype, {n}), y = b.param(dtype, {n}, true);
        Expr i = b.outer(n);
        auto s = b.stage(dtype);
        InstId v = s.load(b.k, x, {i});
        s.op(op, dtype, {v, s.constant(dtype, static_cast<double>(divisor))});
        b.output(y, {i});
        expect_like_reference(b.done(), {77}, {}, Fill::Special);
      }
    }
  }
}

TEST(EmitOps, IotaAndConstantInAllDTypes) {
  for (DType dtype : kComputed) {
    KernelBuilder b;
    Expr n = Expr::var("n"), m = Expr::var("m");
    ParamId y = b.param(dtype, {n, m}, true);
    Expr i = b.outer(n), j = b.outer(m);
    auto s = b.stage(dtype);
    InstId v = s.iota(dtype, i * Expr(1000) + j * Expr(3) - Expr(70));
    s.op(Op::Select, dtype, {s.iota(DType::Bool, j < Expr(19)), v, s.constant(dtype, -2.7)});
    b.output(y, {i, j});
    kernel::Kernel kernel = b.done();
    for (int64_t size : {1, 3, 17, 70}) expect_like_reference(kernel, {size, 5});
  }
}

}  // namespace
}  // namespace luminal::backends::cpu

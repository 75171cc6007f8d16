// Operators that compute element by element.
#include <array>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/promotion.h"

namespace luminal::pytorch {
namespace {

// self ± alpha · other, of tensors or numbers.
Values add_scaled(const Arguments& of, bool subtracts) {
  const Scalar alpha = of.scalar(2);
  const bool once = alpha.kind == Scalar::Kind::Int && alpha.integer == 1;
  return {of_operands(of, 0, 1, [&](const auto& a, const auto& b) -> Tensor {
    if (once) return subtracts ? a - b : a + b;
    Tensor scaled;
    using A = std::decay_t<decltype(a)>;
    using B = std::decay_t<decltype(b)>;
    if constexpr (std::is_same_v<A, Tensor> && std::is_same_v<B, Tensor>) {
      // Halves are rounded once.
      const DType dtype = composite::result_dtype(a, b);
      if (is_half(dtype)) {
        const Tensor wide = (b.cast(DType::F32) * alpha).cast(DType::F32);
        const Tensor other = a.cast(DType::F32);
        return (subtracts ? other - wide : other + wide).cast(dtype);
      }
    }
    if constexpr (std::is_same_v<B, Tensor>) {
      scaled = b * alpha;
    } else {
      scaled = full(a.graph(), {}, b, promote(a.dtype(), b)) * alpha;
    }
    return subtracts ? a - scaled : a + scaled;
  })};
}

// The operands of addcmul, halves as f32, and the dtype of its result.
DType dtype_of_sum(const Arguments& of) {
  return composite::result_dtype(of.tensor(0), of.tensor(1) * of.tensor(2));
}
std::array<Tensor, 3> wide_operands(const Arguments& of) {
  const bool half = is_half(dtype_of_sum(of));
  std::array<Tensor, 3> all;
  for (size_t i = 0; i < 3; ++i) all[i] = half ? of.tensor(i).cast(DType::F32) : of.tensor(i);
  return all;
}

// Of two operands, written as an expression of a and b.
#define BINARY(expression)                                                                         \
  [](const Arguments& of) -> Values {                                                              \
    return {                                                                                       \
        of_operands(of, 0, 1, [](const auto& a, const auto& b) -> Tensor { return expression; })}; \
  }
// Of one tensor x.
#define UNARY(expression)             \
  [](const Arguments& of) -> Values { \
    const Tensor x = of.tensor(0);    \
    return {expression};              \
  }

// An operand of a quotient in its dtype, broadcast.
template <typename A, typename B>
Tensor as_tensor(const A& a, const B& b, DType dtype) {
  if constexpr (std::is_same_v<A, Tensor> && std::is_same_v<B, Tensor>) {
    return a.cast(dtype).expand(broadcast_dims(a.dims(), b.dims()));
  } else if constexpr (std::is_same_v<A, Tensor>) {
    return a.cast(dtype);
  } else {
    return full(b.graph(), Dims(b.dims()), a, dtype);
  }
}

Values divided(const Arguments& of) {
  const std::string mode = of.is_none(2) ? "" : of.word(2);
  return {of_operands(of, 0, 1, [&](const auto& a, const auto& b) -> Tensor {
    if (mode.empty()) return a / b;
    if (mode == "floor") return floor_divide(a, b);
    if (mode == "trunc") {
      // Of integers exactly: what fmod leaves over goes first.
      const Tensor rest = fmod(a, b);
      if (!is_float(rest.dtype())) return floor_divide(a - rest, b);
      return trunc(
          composite::exact_quotient(as_tensor(a, b, rest.dtype()), as_tensor(b, a, rest.dtype())));
    }
    throw UserError("its rounding_mode is '" + mode + "'; floor and trunc are known");
  })};
}

Values where_selected(const Arguments& of) {
  const Tensor condition = of.tensor(0);
  return {of_operands(
      of, 1, 2, [&](const auto& a, const auto& b) -> Tensor { return where(condition, a, b); })};
}

Values clamped(const Arguments& of) {
  return {clamp(of.tensor(0), of.maybe_scalar(1), of.maybe_scalar(2))};
}

Values clamped_by_tensors(const Arguments& of) {
  Tensor x = of.tensor(0);
  if (const auto low = of.maybe_tensor(1)) x = maximum(x, *low);
  if (const auto high = of.maybe_tensor(2)) x = minimum(x, *high);
  return {x};
}

Values gelu_of(const Arguments& of) {
  return {
      gelu(of.tensor(0), of.word(1) == "tanh" ? GeluApproximation::Tanh : GeluApproximation::None)};
}

Values converted(const Tensor& x, std::optional<DType> dtype) {
  return {dtype ? x.cast(*dtype) : x};
}

// other - alpha · self
Values subtracted_from(const Arguments& of) {
  const Scalar alpha = of.scalar(2);
  return {of_operands(of, 0, 1, [&](const auto& a, const auto& b) -> Tensor {
    if (alpha.kind == Scalar::Kind::Int && alpha.integer == 1) return b - a;
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, Tensor>) return b - a * alpha;
    throw UserError("its first operand is no tensor");
  })};
}

constexpr OpEntry kPointwiseOps[] = {
    {"aten.add.Tensor", "self, other, alpha=1",
     [](const Arguments& of) { return add_scaled(of, false); }},
    {"aten.add.Scalar", "self, other, alpha=1",
     [](const Arguments& of) { return add_scaled(of, false); }},
    {"aten.sub.Tensor", "self, other, alpha=1",
     [](const Arguments& of) { return add_scaled(of, true); }},
    {"aten.sub.Scalar", "self, other, alpha=1",
     [](const Arguments& of) { return add_scaled(of, true); }},
    {"aten.rsub.Scalar", "self, other, alpha=1", subtracted_from},
    {"aten.rsub.Tensor", "self, other, alpha=1", subtracted_from},
    {"aten.mul.Tensor", "self, other", BINARY(a* b)},
    {"aten.mul.Scalar", "self, other", BINARY(a* b)},
    {"aten.div.Tensor", "self, other", BINARY(a / b)},
    {"aten.div.Scalar", "self, other", BINARY(a / b)},
    {"aten.div.Tensor_mode", "self, other, rounding_mode=None", divided},
    {"aten.div.Scalar_mode", "self, other, rounding_mode=None", divided},
    {"aten.floor_divide.default", "self, other", BINARY(floor_divide(a, b))},
    {"aten.floor_divide.Scalar", "self, other", BINARY(floor_divide(a, b))},
    {"aten.remainder.Tensor", "self, other", BINARY(remainder(a, b))},
    {"aten.remainder.Scalar", "self, other", BINARY(remainder(a, b))},
    {"aten.fmod.Tensor", "self, other", BINARY(fmod(a, b))},
    {"aten.fmod.Scalar", "self, other", BINARY(fmod(a, b))},
    {"aten.pow.Tensor_Scalar", "self, exponent", BINARY(pow(a, b))},
    {"aten.pow.Tensor_Tensor", "self, exponent", BINARY(pow(a, b))},
    {"aten.pow.Scalar", "self, exponent", BINARY(pow(a, b))},
    {"aten.maximum.default", "self, other", BINARY(maximum(a, b))},
    {"aten.minimum.default", "self, other", BINARY(minimum(a, b))},
    {"aten.eq.Tensor", "self, other", BINARY(eq(a, b))},
    {"aten.eq.Scalar", "self, other", BINARY(eq(a, b))},
    {"aten.ne.Tensor", "self, other", BINARY(ne(a, b))},
    {"aten.ne.Scalar", "self, other", BINARY(ne(a, b))},
    {"aten.lt.Tensor", "self, other", BINARY(a < b)},
    {"aten.lt.Scalar", "self, other", BINARY(a < b)},
    {"aten.le.Tensor", "self, other", BINARY(a <= b)},
    {"aten.le.Scalar", "self, other", BINARY(a <= b)},
    {"aten.gt.Tensor", "self, other", BINARY(a > b)},
    {"aten.gt.Scalar", "self, other", BINARY(a > b)},
    {"aten.ge.Tensor", "self, other", BINARY(a >= b)},
    {"aten.ge.Scalar", "self, other", BINARY(a >= b)},
    {"aten.bitwise_and.Tensor", "self, other", BINARY(bitwise_and(a, b))},
    {"aten.bitwise_and.Scalar", "self, other", BINARY(bitwise_and(a, b))},
    {"aten.__and__.Tensor", "self, other", BINARY(bitwise_and(a, b))},
    {"aten.bitwise_or.Tensor", "self, other", BINARY(bitwise_or(a, b))},
    {"aten.bitwise_or.Scalar", "self, other", BINARY(bitwise_or(a, b))},
    {"aten.__or__.Tensor", "self, other", BINARY(bitwise_or(a, b))},
    {"aten.__and__.Scalar", "self, other", BINARY(bitwise_and(a, b))},
    {"aten.__or__.Scalar", "self, other", BINARY(bitwise_or(a, b))},
    {"aten.addcmul.default", "self, tensor1, tensor2, value=1",
     [](const Arguments& of) -> Values {
       const auto [x, a, b] = wide_operands(of);
       return {(x + a * b * of.scalar(3)).cast(dtype_of_sum(of))};
     }},
    {"aten.addcdiv.default", "self, tensor1, tensor2, value=1",
     [](const Arguments& of) -> Values {
       const auto [x, a, b] = wide_operands(of);
       return {(x + a / b * of.scalar(3)).cast(dtype_of_sum(of))};
     }},
    {"aten.bitwise_xor.Tensor", "self, other", BINARY(bitwise_xor(a, b))},
    {"aten.logical_and.default", "self, other", BINARY(logical_and(a, b))},
    {"aten.logical_or.default", "self, other", BINARY(logical_or(a, b))},
    {"aten.logical_xor.default", "self, other", BINARY(logical_xor(a, b))},
    {"aten.bitwise_not.default", "self", UNARY(bitwise_not(x))},
    {"aten.logical_not.default", "self", UNARY(logical_not(x))},
    {"aten.where.self", "condition, self, other", where_selected},
    {"aten.where.ScalarSelf", "condition, self, other", where_selected},
    {"aten.where.ScalarOther", "condition, self, other", where_selected},
    {"aten.where.Scalar", "condition, self, other",
     [](const Arguments& of) -> Values {
       return {where(of.tensor(0), of.scalar(1), of.scalar(2))};
     }},
    {"aten.clamp.default", "self, min=None, max=None", clamped},
    {"aten.clamp.Tensor", "self, min=None, max=None", clamped_by_tensors},
    {"aten.clamp_min.Tensor", "self, min",
     [](const Arguments& of) -> Values { return {maximum(of.tensor(0), of.tensor(1))}; }},
    {"aten.clamp_max.Tensor", "self, max",
     [](const Arguments& of) -> Values { return {minimum(of.tensor(0), of.tensor(1))}; }},
    {"aten.max.other", "self, other", BINARY(maximum(a, b))},
    {"aten.min.other", "self, other", BINARY(minimum(a, b))},
    {"aten.bitwise_xor.Scalar", "self, other", BINARY(bitwise_xor(a, b))},
    {"aten.bitwise_left_shift.Tensor", "self, other", BINARY(bitwise_left_shift(a, b))},
    {"aten.bitwise_left_shift.Tensor_Scalar", "self, other", BINARY(bitwise_left_shift(a, b))},
    {"aten.bitwise_right_shift.Tensor", "self, other", BINARY(bitwise_right_shift(a, b))},
    {"aten.bitwise_right_shift.Tensor_Scalar", "self, other", BINARY(bitwise_right_shift(a, b))},
    {"aten.clamp_min.default", "self, min",
     [](const Arguments& of) -> Values { return {clamp(of.tensor(0), of.scalar(1))}; }},
    {"aten.clamp_max.default", "self, max",
     [](const Arguments& of) -> Values {
       return {clamp(of.tensor(0), std::nullopt, of.scalar(1))};
     }},
    {"aten.exp.default", "self", UNARY(exp(x))},
    {"aten.exp2.default", "self", UNARY(exp2(x))},
    {"aten.log.default", "self", UNARY(log(x))},
    {"aten.log2.default", "self", UNARY(log2(x))},
    {"aten.sin.default", "self", UNARY(sin(x))},
    {"aten.cos.default", "self", UNARY(cos(x))},
    {"aten.tan.default", "self", UNARY(tan(x))},
    {"aten.sqrt.default", "self", UNARY(sqrt(x))},
    {"aten.rsqrt.default", "self", UNARY(rsqrt(x))},
    {"aten.reciprocal.default", "self", UNARY(reciprocal(x))},
    {"aten.square.default", "self", UNARY(square(x))},
    {"aten.erf.default", "self", UNARY(erf(x))},
    {"aten.abs.default", "self", UNARY(abs(x))},
    {"aten.neg.default", "self", UNARY(neg(x))},
    {"aten.sign.default", "self", UNARY(sign(x))},
    {"aten.sgn.default", "self", UNARY(sign(x))},
    {"aten.floor.default", "self", UNARY(floor(x))},
    {"aten.ceil.default", "self", UNARY(ceil(x))},
    {"aten.round.default", "self", UNARY(round(x))},
    {"aten.trunc.default", "self", UNARY(trunc(x))},
    {"aten.isnan.default", "self", UNARY(isnan(x))},
    {"aten.isinf.default", "self", UNARY(isinf(x))},
    {"aten.isfinite.default", "self", UNARY(isfinite(x))},
    {"aten.relu.default", "self", UNARY(relu(x))},
    {"aten.relu6.default", "self", UNARY(clamp(x, 0, 6))},
    {"aten.silu.default", "self", UNARY(silu(x))},
    {"aten.sigmoid.default", "self", UNARY(sigmoid(x))},
    {"aten.tanh.default", "self", UNARY(tanh(x))},
    {"aten.hardtanh.default", "self, min_val=-1, max_val=1", clamped},
    {"aten.gelu.default", "self, approximate='none'", gelu_of},
    {"aten.leaky_relu.default", "self, negative_slope=0.01",
     [](const Arguments& of) -> Values { return {leaky_relu(of.tensor(0), of.real(1))}; }},
    {"aten.softplus.default", "self, beta=1, threshold=20",
     [](const Arguments& of) -> Values {
       return {softplus(of.tensor(0), {.beta = of.real(1), .threshold = of.real(2)})};
     }},
    {"aten.dropout.default", "input, p, train",
     [](const Arguments& of) -> Values {
       if (of.flag(2)) throw UserError("it drops values at random: export the model after eval()");
       return {of.tensor(0)};
     }},
    {"aten.clone.default", "self, memory_format=None", UNARY(x)},
    {"aten.contiguous.default", "self, memory_format=None", UNARY(x)},
    {"aten.lift_fresh_copy.default", "self", UNARY(x)},
    {"aten.native_dropout.default", "input, p, train",
     [](const Arguments& of) -> Values {
       if (of.is_none(2) || of.flag(2))
         throw UserError("it drops values at random: export the model after eval()");
       const Tensor x = of.tensor(0);
       return {x, full(of.graph(), Dims(x.dims()), true, DType::Bool)};
     }},
    {"aten._to_copy.default",
     "self, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, "
     "memory_format=None",
     [](const Arguments& of) { return converted(of.tensor(0), of.maybe_dtype(1)); }},
    {"aten.to.dtype", "self, dtype, non_blocking=False, copy=False, memory_format=None",
     [](const Arguments& of) { return converted(of.tensor(0), of.maybe_dtype(1)); }},
    {"aten.to.dtype_layout",
     "self, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, copy=False, "
     "memory_format=None",
     [](const Arguments& of) { return converted(of.tensor(0), of.maybe_dtype(1)); }},
    {"aten.to.device", "self, device, dtype, non_blocking=False, copy=False, memory_format=None",
     [](const Arguments& of) { return converted(of.tensor(0), of.maybe_dtype(2)); }},
    {"aten.type_as.default", "self, other",
     [](const Arguments& of) { return converted(of.tensor(0), of.tensor(1).dtype()); }},
    {"prims.convert_element_type.default", "self, dtype",
     [](const Arguments& of) { return converted(of.tensor(0), of.maybe_dtype(1)); }},
};

#undef BINARY
#undef UNARY

}  // namespace

std::span<const OpEntry> pointwise_ops() { return kPointwiseOps; }

}  // namespace luminal::pytorch

// Activation functions, and elements moved between channels and places.
#include "luminal/graph/composite/activation.h"

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/special/hyperbolic.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

using composite::in_compute_dtype;

Values gated(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int axis = of.integer(1);
  const Expr half = x.dim(axis) / 2;
  return {in_compute_dtype(x, [&](const Tensor& v) {
    return v.narrow(axis, 0, half) * sigmoid(v.narrow(axis, half, half));
  })};
}

Values celu_of(const Arguments& of) {
  const double alpha = of.real(1);
  return {in_compute_dtype(of.tensor(0), [&](const Tensor& v) {
    return where(v > 0.0, v, expm1(v * (1 / alpha)) * alpha);
  })};
}

Values elu_of(const Arguments& of) {
  const double alpha = of.real(1), scale = of.real(2), input_scale = of.real(3);
  return {in_compute_dtype(of.tensor(0), [&](const Tensor& v) {
    return where(v > 0.0, v * scale, expm1(v * input_scale) * (alpha * scale));
  })};
}

Values selu_of(const Arguments& of) {
  constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  return {in_compute_dtype(of.tensor(0), [](const Tensor& v) {
    return where(v > 0.0, v * kScale, expm1(v) * (kAlpha * kScale));
  })};
}

Values hard_shrunk(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const double lambda = of.real(1);
  return {where(logical_and(x >= -lambda, x <= lambda), 0.0, x)};
}

Values soft_shrunk(const Arguments& of) {
  const double lambda = of.real(1);
  return {in_compute_dtype(of.tensor(0), [&](const Tensor& v) {
    return where(v > lambda, v - lambda, where(v < -lambda, v + lambda, v * 0.0));
  })};
}

Values thresholded(const Arguments& of) {
  const Tensor x = of.tensor(0);
  return {where(x <= of.scalar(1), of.scalar(2), x).cast(x.dtype())};
}

Values parametric_relu(const Arguments& of) {
  const Tensor x = of.tensor(0);
  Tensor weight = of.tensor(1);
  // One weight, or one per channel.
  if (weight.rank() == 1) {
    Dims dims(static_cast<size_t>(x.rank()), Expr(1));
    if (x.rank() > 1) dims[1] = weight.dim(0);
    weight = weight.reshape(dims);
  }
  const DType compute = composite::compute_dtype(x.dtype());
  const Tensor v = x.cast(compute);
  return {where(v > 0.0, v, v * weight.cast(compute)).cast(x.dtype())};
}

Values log_sigmoid(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Tensor value = in_compute_dtype(
      x, [](const Tensor& v) { return clamp(v, std::nullopt, 0.0) - log1p(exp(-abs(v))); });
  return {value, in_compute_dtype(x, [](const Tensor& v) { return exp(-abs(v)); })};
}

Values random_leaky_relu(const Arguments& of) {
  if (of.flag(4)) throw UserError("it draws random slopes: export the model after eval()");
  return {leaky_relu(of.tensor(0), (of.real(2) + of.real(3)) / 2)};
}

Values softmax_of_seen(const Arguments& of) {
  Tensor x = of.tensor(0);
  if (const auto dtype = of.maybe_dtype(2)) x = x.cast(*dtype);
  if (x.rank() == 0) throw UserError("it is of a scalar, which isn't supported");
  const int axis = of.integer(1);
  return {in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor greatest = max(v, axis, {.keepdim = true});
    const Tensor e = exp(v - where(eq(greatest, -composite::kInf), 0.0, greatest));
    const Tensor total = sum(e, axis, {.keepdim = true});
    return e / where(eq(total, 0.0), 1.0, total);
  })};
}

// [n…, c, h, w] with c = out·r² as [n…, out, h·r, w·r].
Values pixels_spread(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int r = of.integer(1), last = x.rank();
  if (last < 3 || r < 1 || !(x.dim(-3) % (r * r)).is(0)) {
    throw UserError("its channels aren't a multiple of the factor's square");
  }
  Tensor y = x.split_dims(last - 3, {x.dim(-3) / (r * r), Expr(r), Expr(r)});
  std::vector<int> order;
  for (int i = 0; i < last - 2; ++i) order.push_back(i);
  // [… out, r, s, h, w] → [… out, h, r, w, s]
  for (int i : {last, last - 2, last + 1, last - 1}) order.push_back(i);
  y = y.permute(order);
  return {y.merge_dims(last, 2).merge_dims(last - 2, 2)};
}

Values pixels_gathered(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int r = of.integer(1), last = x.rank();
  if (last < 3 || r < 1) throw UserError("it has no channels, height and width");
  Tensor y = x.split_dims(last - 1, {x.dim(-1) / r, Expr(r)});
  y = y.split_dims(last - 2, {x.dim(-2) / r, Expr(r)});
  std::vector<int> order;
  for (int i = 0; i < last - 2; ++i) order.push_back(i);
  // [… c, h, r, w, s] → [… c, r, s, h, w]
  for (int i : {last - 1, last + 1, last - 2, last}) order.push_back(i);
  return {y.permute(order).merge_dims(last - 3, 3)};
}

Values channels_shuffled(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Expr groups = of.integer(1);
  return {x.split_dims(1, {groups, x.dim(1) / groups}).transpose(1, 2).merge_dims(1, 2)};
}

constexpr OpEntry kActivationOps[] = {
    {"aten.glu.default", "self, dim=-1", gated},
    {"aten.celu.default", "self, alpha=1.0", celu_of},
    {"aten.elu.default", "self, alpha=1, scale=1, input_scale=1", elu_of},
    {"aten.hardshrink.default", "self, lambd=0.5", hard_shrunk},
    {"aten.softshrink.default", "self, lambd=0.5", soft_shrunk},
    {"aten.threshold.default", "self, threshold, value", thresholded},
    {"aten.selu.default", "self", selu_of},
    {"aten.prelu.default", "self, weight", parametric_relu},
    {"aten._prelu_kernel.default", "self, weight", parametric_relu},
    {"aten.log_sigmoid_forward.default", "self", log_sigmoid},
    {"aten.log_sigmoid.default", "self",
     [](const Arguments& of) -> Values { return {log_sigmoid(of)[0]}; }},
    {"aten.rrelu_with_noise.default",
     "self, noise, lower=0.125, upper=0.3333333333333333, training=False, generator=None",
     random_leaky_relu},
    {"aten.hardswish.default", "self",
     [](const Arguments& of) -> Values {
       return {in_compute_dtype(
           of.tensor(0), [](const Tensor& v) { return v * clamp(v + 3.0, 0, 6) * (1.0 / 6); })};
     }},
    {"aten.hardsigmoid.default", "self",
     [](const Arguments& of) -> Values {
       return {in_compute_dtype(of.tensor(0),
                                [](const Tensor& v) { return clamp(v + 3.0, 0, 6) * (1.0 / 6); })};
     }},
    {"aten.mish.default", "self",
     [](const Arguments& of) -> Values {
       return {
           in_compute_dtype(of.tensor(0), [](const Tensor& v) { return v * tanh(softplus(v)); })};
     }},
    {"aten._safe_softmax.default", "self, dim, dtype=None", softmax_of_seen},
    {"aten.pixel_shuffle.default", "self, upscale_factor", pixels_spread},
    {"aten.pixel_unshuffle.default", "self, downscale_factor", pixels_gathered},
    {"aten.channel_shuffle.default", "self, groups", channels_shuffled},
};

}  // namespace

std::span<const OpEntry> activation_ops() { return kActivationOps; }

}  // namespace luminal::pytorch

// Gradients of element-wise operators, softmax, embeddings and losses, as AOTAutograd writes them.
#include <cmath>
#include <numbers>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/special/hyperbolic.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

// Of two operands in their compute dtype, rounded once.
template <typename F>
Values rounded_once(const Arguments& of, size_t first, size_t second, F f) {
  const Tensor a = of.tensor(first), b = of.tensor(second);
  const DType dtype = composite::result_dtype(a, b), compute = composite::compute_dtype(dtype);
  return {f(a.cast(compute), b.cast(compute)).cast(dtype)};
}

// grad · an expression of x, the second operand.
#define LUMINAL_GRADIENT(expression)                                                      \
  [](const Arguments& of) -> Values {                                                     \
    return rounded_once(of, 0, 1,                                                         \
                        [&](const Tensor& grad, const Tensor& x) { return expression; }); \
  }

Tensor silu_slope(const Tensor& x) {
  const Tensor s = sigmoid(x);
  return s * (x * (1.0 - s) + 1.0);
}

Values gelu_gradient(const Arguments& of) {
  const bool by_tanh = of.word(2) == "tanh";
  return rounded_once(of, 0, 1, [&](const Tensor& grad, const Tensor& x) {
    if (by_tanh) {
      constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCube = 0.044715;
      const Tensor t = tanh((x + x * x * x * kCube) * kScale);
      const Tensor slope = (1.0 - t * t) * (x * x * (3 * kCube) + 1.0) * kScale;
      return grad * ((t + 1.0) * 0.5 + x * slope * 0.5);
    }
    const Tensor share = (erf(x * (1 / std::numbers::sqrt2)) + 1.0) * 0.5;
    constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return grad * (share + x * exp(x * x * -0.5) * kDensity);
  });
}

// (grad, self or result, …)
Values elu_gradient(const Arguments& of) {
  const double alpha = of.real(1), scale = of.real(2), input_scale = of.real(3);
  const bool is_result = of.flag(4);
  return rounded_once(of, 0, 5, [&](const Tensor& grad, const Tensor& x) {
    const Tensor below = is_result ? grad * input_scale * (x + alpha * scale)
                                   : grad * input_scale * alpha * scale * exp(x * input_scale);
    return where(x <= 0.0, below, grad * scale);
  });
}

Values softplus_gradient(const Arguments& of) {
  const double beta = of.real(2), threshold = of.real(3);
  return rounded_once(of, 0, 1, [&](const Tensor& grad, const Tensor& x) {
    return where(x * beta > threshold, grad, grad * sigmoid(x * beta));
  });
}

Values gated_gradient(const Arguments& of) {
  const int axis = of.integer(2);
  return rounded_once(of, 0, 1, [&](const Tensor& grad, const Tensor& x) {
    const Expr half = x.dim(axis) / 2;
    const Tensor a = x.narrow(axis, 0, half), s = sigmoid(x.narrow(axis, half, half));
    return concat({grad * s, grad * a * s * (1.0 - s)}, axis < 0 ? axis + x.rank() : axis);
  });
}

// (grad, output, dim, input_dtype)
template <bool kLog>
Values softmax_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0), output = of.tensor(1);
  const DType compute = composite::compute_dtype(output.dtype());
  const Tensor g = grad.cast(compute), y = output.cast(compute);
  const int axis = of.integer(2);
  const auto total = [&](const Tensor& x) {
    return x.rank() == 0 ? x : sum(x, axis, {.keepdim = true});
  };
  const Tensor result = kLog ? g - exp(y) * total(g) : y * (g - total(g * y));
  return {result.cast(of.maybe_dtype(3).value_or(grad.dtype()))};
}

// Rows of the gradient added up by the index that they were read at.
Values embedding_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0), indices = of.tensor(1).cast(DType::I64);
  if (of.flag(4)) throw UserError("it scales by frequency, which isn't supported");
  const Expr rows = of.size(2), padding = of.size(3);
  const DType compute = composite::compute_dtype(grad.dtype());
  const Expr width = grad.dim(-1);
  Tensor values = grad.cast(compute).reshape({indices.n_elements(), width});
  const Tensor flat = indices.flatten();
  if (padding.lower_bound() >= 0) {
    values = where(eq(flat, Scalar(padding)).unsqueeze(1), 0.0, values);
  }
  const Tensor zeros = full(of.graph(), {rows, width}, 0, compute);
  return {prim::scatter(zeros, flat, values, Reducer::Sum).cast(grad.dtype())};
}

double share_of(const Tensor& x, int reduction) {
  if (reduction != 1) return 1;
  const auto count = x.n_elements().to_int();
  if (!count) throw UserError("its mean is over a size that each run chooses");
  return 1.0 / static_cast<double>(*count);
}

// (grad, self, target, reduction)
template <typename F>
Values loss_gradient(const Arguments& of, int reduction, F slope) {
  const Tensor x = of.tensor(1), target = of.tensor(2), grad = of.tensor(0);
  const DType compute = composite::compute_dtype(x.dtype());
  const Tensor at = slope(x.cast(compute), target.cast(compute));
  return {(at * share_of(x, reduction) * grad.cast(compute)).cast(x.dtype())};
}

Values mse_gradient(const Arguments& of) {
  return loss_gradient(of, of.integer(3),
                       [](const Tensor& x, const Tensor& y) { return (x - y) * 2.0; });
}

Values smooth_gradient(const Arguments& of) {
  const double beta = of.real(4);
  return loss_gradient(of, of.integer(3), [&](const Tensor& x, const Tensor& y) {
    const Tensor step = x - y;
    return where(abs(step) < beta, step * (1 / beta), sign(step));
  });
}

// (grad, self, target, weight, reduction, ignore_index, total_weight)
Values likelihood_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0), x = of.tensor(1), target = of.tensor(2).cast(DType::I64);
  const auto weight = of.maybe_tensor(3);
  const int reduction = of.integer(4), axis = x.rank() > 1 ? 1 : 0;
  const DType compute = composite::compute_dtype(x.dtype());
  const Tensor counts = ne(target, Scalar(of.size(5)));
  const Tensor index = where(counts, target, 0);
  Tensor shares = where(counts, -1.0, full(of.graph(), Dims(target.dims()), 0.0, compute));
  if (weight) {
    shares = shares *
             index_select(weight->cast(compute), 0, index.flatten()).reshape(Dims(index.dims()));
  }
  shares = shares * grad.cast(compute);
  if (reduction == 1) shares = shares / of.tensor(6).cast(compute);
  // One-hot along the classes, without a scatter.
  const Dims dims = x.dims();
  const Tensor place =
      prim::iota(x.graph(), Expr::index(axis, dims[static_cast<size_t>(axis)]), dims, DType::I64);
  const Tensor hit = logical_and(eq(place, index.unsqueeze(axis)), counts.unsqueeze(axis));
  return {where(hit, shares.unsqueeze(axis), 0.0).cast(x.dtype())};
}

Values dropped(const Arguments& of) {
  const Tensor grad = of.tensor(0);
  return {composite::in_compute_dtype(
      grad, [&](const Tensor& g) { return g * of.tensor(1).cast(g.dtype()) * of.real(2); })};
}

// Into zeros of given dims.
Values slice_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0);
  const Dims dims = of.sizes(1);
  const int axis =
      of.integer(2) < 0 ? of.integer(2) + static_cast<int>(dims.size()) : of.integer(2);
  if (!of.size(5).is(1)) throw UserError("its step isn't 1, which isn't supported");
  const Expr size = dims.at(static_cast<size_t>(axis));
  Expr start = of.size(3);
  if (start.upper_bound() < 0) start = max(start + size, 0);
  start = min(start, size);
  return {pad_axis(grad, axis, {.before = start, .after = size - start - grad.dim(axis)})};
}

Values select_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0);
  const Dims dims = of.sizes(1);
  const int axis =
      of.integer(2) < 0 ? of.integer(2) + static_cast<int>(dims.size()) : of.integer(2);
  const Expr size = dims.at(static_cast<size_t>(axis));
  Expr index = of.size(3);
  if (index.upper_bound() < 0) index = index + size;
  return {pad_axis(grad.unsqueeze(axis), axis, {.before = index, .after = size - index - 1})};
}

constexpr OpEntry kGradientOps[] = {
    {"aten.threshold_backward.default", "grad_output, self, threshold",
     [](const Arguments& of) -> Values {
       const Tensor grad = of.tensor(0);
       return {where(of.tensor(1) <= of.scalar(2), 0.0, grad).cast(grad.dtype())};
     }},
    {"aten.sigmoid_backward.default", "grad_output, output", LUMINAL_GRADIENT(grad* x * (1.0 - x))},
    {"aten.tanh_backward.default", "grad_output, output", LUMINAL_GRADIENT(grad * (1.0 - x * x))},
    {"aten.silu_backward.default", "grad_output, self", LUMINAL_GRADIENT(grad* silu_slope(x))},
    {"aten.mish_backward.default", "grad_output, self",
     LUMINAL_GRADIENT(
         grad*(tanh(softplus(x)) + x * (1.0 - square(tanh(softplus(x)))) * sigmoid(x)))},
    {"aten.hardswish_backward.default", "grad_output, self",
     LUMINAL_GRADIENT(where(x <= -3.0, 0.0, where(x >= 3.0, grad, grad*(x * (1.0 / 3) + 0.5))))},
    {"aten.hardsigmoid_backward.default", "grad_output, self",
     LUMINAL_GRADIENT(where(logical_and(x > -3.0, x < 3.0), grad * (1.0 / 6), 0.0))},
    {"aten.hardtanh_backward.default", "grad_output, self, min_val, max_val",
     LUMINAL_GRADIENT(where(logical_or(x <= of.real(2), x >= of.real(3)), 0.0, grad))},
    {"aten.leaky_relu_backward.default", "grad_output, self, negative_slope, self_is_result",
     LUMINAL_GRADIENT(where(x > 0.0, grad, grad* of.real(2)))},
    {"aten.log_sigmoid_backward.default", "grad_output, self, buffer",
     LUMINAL_GRADIENT(grad* sigmoid(-x))},
    {"aten.gelu_backward.default", "grad_output, self, approximate='none'", gelu_gradient},
    {"aten.elu_backward.default",
     "grad_output, alpha, scale, input_scale, is_result, self_or_result", elu_gradient},
    {"aten.softplus_backward.default", "grad_output, self, beta, threshold", softplus_gradient},
    {"aten.glu_backward.default", "grad_output, self, dim", gated_gradient},
    {"aten._softmax_backward_data.default", "grad_output, output, dim, input_dtype",
     softmax_gradient<false>},
    {"aten._log_softmax_backward_data.default", "grad_output, output, dim, input_dtype",
     softmax_gradient<true>},
    {"aten.embedding_dense_backward.default",
     "grad_output, indices, num_weights, padding_idx, scale_grad_by_freq", embedding_gradient},
    {"aten.mse_loss_backward.default", "grad_output, self, target, reduction", mse_gradient},
    {"aten.smooth_l1_loss_backward.default", "grad_output, self, target, reduction, beta",
     smooth_gradient},
    {"aten.nll_loss_backward.default",
     "grad_output, self, target, weight, reduction, ignore_index, total_weight",
     likelihood_gradient},
    {"aten.nll_loss2d_backward.default",
     "grad_output, self, target, weight, reduction, ignore_index, total_weight",
     likelihood_gradient},
    {"aten.native_dropout_backward.default", "grad_output, mask, scale", dropped},
    {"aten.slice_backward.default", "grad_output, input_sizes, dim, start, end, step",
     slice_gradient},
    {"aten.select_backward.default", "grad_output, input_sizes, dim, index", select_gradient},
};

#undef LUMINAL_GRADIENT

}  // namespace

std::span<const OpEntry> gradient_ops() { return kGradientOps; }

}  // namespace luminal::pytorch

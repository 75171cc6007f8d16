#include "luminal/graph/composite/loss.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/operands/promotion.h"

namespace luminal {
namespace {

// The class axis; checks that target has the other axes of x.
int class_axis(std::string_view op, const Tensor& x, const Tensor& target) {
  composite::check_float(op, x);
  composite::check_index(op, target);
  const int axis = x.rank() > 1 ? 1 : 0;
  Dims wanted = x.dims();
  if (!wanted.empty()) wanted.erase(wanted.begin() + axis);
  if (x.rank() == 0 || !same_dims(target.dims(), wanted)) {
    throw UserError(
        fmt::format("{}: for x {} the target must be {}, but is {}; reshape one of them", op,
                    text(x.dims()), text(wanted), text(target.dims())));
  }
  return axis;
}

Tensor negated_picks(const Tensor& log_probabilities, int axis, const Tensor& target,
                     const ClassLossOptions& options) {
  const Tensor counts = ne(target, options.ignore_index);
  const Tensor index = where(counts, target, 0);
  const Tensor picked = gather(log_probabilities, axis, index.unsqueeze(axis)).squeeze(axis);
  const Tensor losses = where(counts, -picked, 0.0);
  switch (options.reduction) {
    case LossReduction::None:
      return losses;
    case LossReduction::Sum:
      return sum(losses);
    case LossReduction::Mean:
      return sum(losses) / sum(counts.cast(losses.dtype()));
  }
  return losses;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const ClassLossOptions& options) {
  const int axis = class_axis("cross_entropy", logits, target);
  return composite::in_compute_dtype(logits, [&](const Tensor& v) {
    return negated_picks(log_softmax(v, axis), axis, target, options);
  });
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const ClassLossOptions& options) {
  const int axis = class_axis("nll_loss", log_probabilities, target);
  return composite::in_compute_dtype(
      log_probabilities, [&](const Tensor& v) { return negated_picks(v, axis, target, options); });
}

Tensor mse_loss(const Tensor& x, const Tensor& target, LossReduction reduction) {
  composite::check_float("mse_loss", x);
  const DType dtype = composite::result_dtype(x, target);
  const DType compute = composite::compute_dtype(dtype);
  const Tensor difference = x.cast(compute) - target.cast(compute);
  const Tensor losses = difference * difference;
  switch (reduction) {
    case LossReduction::None:
      return losses.cast(dtype);
    case LossReduction::Sum:
      return sum(losses).cast(dtype);
    case LossReduction::Mean:
      return mean(losses).cast(dtype);
  }
  return losses.cast(dtype);
}

}  // namespace luminal

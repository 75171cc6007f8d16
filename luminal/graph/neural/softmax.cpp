#include "luminal/graph/composite/softmax.h"

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"

namespace luminal {

Tensor softmax(const Tensor& x, int axis) {
  composite::check_float("softmax", x);
  const int which = composite::normalize_axis("softmax", axis, x.dims(), true);
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor e = exp(v - max(v, which, {.keepdim = true}));
    return e / sum(e, which, {.keepdim = true});
  });
}

Tensor log_softmax(const Tensor& x, int axis) {
  composite::check_float("log_softmax", x);
  const int which = composite::normalize_axis("log_softmax", axis, x.dims(), true);
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor shifted = v - max(v, which, {.keepdim = true});
    return shifted - log(sum(exp(shifted), which, {.keepdim = true}));
  });
}

}  // namespace luminal

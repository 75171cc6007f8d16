// Normalisations.
#include "luminal/graph/composite/norm.h"

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

Values layer_norm_of(const Arguments& of) {
  return {
      layer_norm(of.tensor(0), of.sizes(1), of.maybe_tensor(2), of.maybe_tensor(3), of.real(4))};
}

// With mean and 1/deviation, which training reads.
Values native_layer_norm(const Arguments& of) {
  const Tensor x = of.tensor(0);
  std::vector<int> axes;
  for (int i = static_cast<int>(of.sizes(1).size()); i-- > 0;) axes.push_back(-1 - i);
  const Tensor wide = is_half(x.dtype()) ? x.cast(DType::F32) : x;
  const Tensor centre = mean(wide, axes, {.keepdim = true});
  const Tensor spread = var(wide, axes, {.correction = 0, .keepdim = true});
  return {layer_norm_of(of)[0], centre, rsqrt(spread + of.real(4))};
}

Values rms_norm_of(const Arguments& of) {
  return {rms_norm(of.tensor(0), of.sizes(1), of.maybe_tensor(2), of.maybe_real(3))};
}

Values group_norm_of(const Arguments& of) {
  return {
      group_norm(of.tensor(0), of.integer(1), of.maybe_tensor(2), of.maybe_tensor(3), of.real(4))};
}

Values batch_norm_of(const Arguments& of) {
  if (of.flag(5)) throw UserError("it computes statistics of the batch: export after eval()");
  return {batch_norm(of.tensor(0), of.tensor(3), of.tensor(4), of.maybe_tensor(1),
                     of.maybe_tensor(2), of.real(7))};
}

// (input, weight, bias, mean, var, momentum, eps), with two results that training reads.
Values core_batch_norm(const Arguments& of) {
  return {batch_norm(of.tensor(0), of.tensor(3), of.tensor(4), of.maybe_tensor(1),
                     of.maybe_tensor(2), of.real(6)),
          of.tensor(3), of.tensor(4)};
}

constexpr OpEntry kNormsOps[] = {
    {"aten.layer_norm.default",
     "input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True",
     layer_norm_of},
    {"aten.native_layer_norm.default", "input, normalized_shape, weight, bias, eps",
     native_layer_norm},
    {"aten.rms_norm.default", "input, normalized_shape, weight=None, eps=None", rms_norm_of},
    {"aten.group_norm.default",
     "input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True", group_norm_of},
    {"aten.batch_norm.default",
     "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled",
     batch_norm_of},
    {"aten._native_batch_norm_legit_no_training.default",
     "input, weight, bias, running_mean, running_var, momentum, eps", core_batch_norm},
};

}  // namespace

std::span<const OpEntry> norm_ops() { return kNormsOps; }

}  // namespace luminal::pytorch

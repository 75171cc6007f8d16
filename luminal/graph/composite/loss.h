// Loss functions.
#pragma once

#include <cstdint>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

enum class LossReduction { Mean, Sum, None };

struct ClassLossOptions {
  LossReduction reduction = LossReduction::Mean;  // Mean: over the targets that aren't ignored
  int64_t ignore_index = -100;                    // targets with this value are ignored
};

// nll_loss of log_softmax; logits [n, classes, …] (or [classes]), class indices [n, …].
LUMINAL_API Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                                 const ClassLossOptions& options = {});
// The negative log-likelihood of each target.
LUMINAL_API Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                            const ClassLossOptions& options = {});
// (x - target)².
LUMINAL_API Tensor mse_loss(const Tensor& x, const Tensor& target,
                            LossReduction reduction = LossReduction::Mean);

}  // namespace luminal

// SoftmaxForm: a kernel that sums values weighted by a softmax of scores, as attention does. The
// form says which stages compute these, and which loops run over keys:
//
//   greatest:  m = max_k score[k]
//   weights:   w[k] = exp2((score[k] − m) · c)
//   total:     Σ_k w[k]
//   result:    Σ_k w[k] · values[k] · scales
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// All four stages compute in f32. No other stage reads the maxima or the weights.
struct SoftmaxForm {
  StageId greatest;  // the maximum score of each row
  StageId weights;   // has the loops of `greatest` and, last, one over keys
  StageId total;     // the sum of a row's weights
  StageId result;    // Σ weight · value · scales over keys

  // Of the body of `weights`: the score, which is the same as what `greatest` reduces, and the read
  // of the maximum.
  InstId score, read_greatest;
  // Of the body of `result`. Values vary along keys, scales don't.
  InstId weight;
  std::vector<InstId> values, scales;

  std::vector<LoopId> keys;  // all loops over keys, of one extent; local buffers have them as dims
  bool is_key(LoopId loop) const { return std::ranges::find(keys, loop) != keys.end(); }
};

std::optional<SoftmaxForm> softmax_form(const Kernel& kernel);

}  // namespace luminal::kernel

// SoftmaxForm: a kernel that sums values with weights that are a softmax of scores, as attention
// does. The form says which stages do that, and which loops run over keys.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// All four stages compute in f32. Nobody else reads the greatest scores or the weights.
struct SoftmaxForm {
  int greatest = -1;  // the stage of the greatest score of each row
  int weights = -1;   // exp2((score − greatest) · c), with the loops of `greatest` and, last, keys
  int total = -1;     // the sum of a row's weights
  int result = -1;    // Σ weight · value · scales over keys

  // Of the body of `weights`: the same as `greatest` takes the greatest of, and the local that it
  // reads of that.
  InstId score, read_greatest;
  // Of the body of `result`. Values vary along keys, scales don't.
  InstId weight;
  std::vector<InstId> values, scales;

  std::vector<int> keys;  // all loops over keys, all of one extent; local buffers have them as dims
  bool is_key(int loop) const { return std::ranges::find(keys, loop) != keys.end(); }
};

std::optional<SoftmaxForm> softmax_form(const Kernel& kernel);

}  // namespace luminal::kernel

// SplitSoftmax: flash decoding (split-K attention). Attention of a few queries over many keys
// becomes two kernels, so that every thread gets part of the keys, and keys shared by a group of
// heads are read while in cache.
//
// The first kernel computes, per range of keys and for all rows that share them, the maximum score,
// the sum of weights and the weighted sum of values as if there were no other keys. The second
// combines the ranges, each scaled by its maximum. Ranges are of about equal length, and the split
// depends on the number of keys alone, so results don't depend on the number of threads. For
// example, 1000 keys are 4 ranges of 250:
//
//   ranges:    m_r = max score, l_r = Σ exp2(score − m_r), o_r = Σ exp2(score − m_r) · value
//   together:  m = max_r m_r, f_r = exp2(m_r − m), l = Σ_r f_r · l_r, o = Σ_r f_r · o_r,
//              then what follows in the kernel, such as o / l
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/recognise/softmax_form.h"

namespace luminal::kernel {

struct SplitSoftmax {
  Kernel ranges, together;
  // What the first kernel stores for the second: maximum scores, sums of weights, weighted sums.
  std::vector<Param> between;
  // By parameter of each: a parameter of the original kernel, or, past those, one of `between`.
  IdVector<ParamId, ParamId> ranges_params, together_params;
};

// Keys of a range, at most: with their values, 128 KB in f32 for heads of 64. That stays in a near
// cache while all rows read it, and is long enough to make the second kernel cheap in comparison.
constexpr int64_t kKeysOfRange = 256;

// nullopt if the softmax isn't over more keys than one range holds, if the kernel has enough outer
// points for all threads, or if many rows share the keys: row blocks are better then
// (row_block_form.h).
std::optional<SplitSoftmax> split_softmax(const Kernel& kernel, const SoftmaxForm& form,
                                          int64_t keys_of_range = kKeysOfRange);

}  // namespace luminal::kernel

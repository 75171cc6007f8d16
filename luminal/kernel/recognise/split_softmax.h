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

// Keys of a range, at most, by default: with their values, 128 KB in f32 for heads of 64. That
// stays in a near cache while all rows read it, and is long enough to make the second kernel cheap
// in comparison.
constexpr int64_t kKeysOfRange = 256;

// Whether a softmax can be split, and whether it is unless something else is chosen.
struct SplitForm {
  // Of a range, at most: kKeysOfRange, or less if there are no more keys than that. 0: there are
  // too few keys for two ranges, or many rows share them, which row blocks suit (row_block_form.h).
  int64_t keys_of_range = 0;
  // There are more keys than kKeysOfRange, and fewer outer points and rows than would keep all
  // threads busy without a split.
  bool is_default = false;
};

SplitForm split_form(const Kernel& kernel, const SoftmaxForm& form);

// nullopt if it can't be split, or if there are no more keys than one range holds.
std::optional<SplitSoftmax> split_softmax(const Kernel& kernel, const SoftmaxForm& form,
                                          int64_t keys_of_range);

}  // namespace luminal::kernel

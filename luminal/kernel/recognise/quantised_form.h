// QuantisedForm: a factor of a contraction that is made of small integers, linearly.
//
// Dequantised weights are a scale, and often an offset, for every few integers that stand next to
// each other along k: Σ slope · integer + offset. Sums of their products with another factor x are
// then slope · Σ integer · x + offset · Σ x, block by block, so that an integer costs one
// multiply-add and no weight is ever made.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {

struct QuantisedTerm {
  InstId integer;  // in the contraction's stage: a load of i8, u8 or u4
  Stage slope;     // an f32, without loops of its own
};

struct QuantisedForm {
  int64_t block = 1;  // divides k's extent: slopes and offset are the same in each such part
  std::vector<QuantisedTerm> terms;  // at least one
  std::optional<Stage> offset;
  bool rounded = false;  // to bf16, after all that; what is summed by blocks needn't be
};

// Up to so many rows integers are best converted as they stream by; with more it takes less time to
// make the factor, or bf16 of its integers, once for all of them.
constexpr int64_t kMostStreamedRows = 8;

// Whether small integers are loaded for the right factor: all that are of the form below are so.
bool has_small_integers(const Kernel& kernel, const Contraction& contraction);

// Of the right factor; none where it isn't of this form, or the extent of k isn't known.
std::optional<QuantisedForm> quantised_form(const Kernel& kernel, const Contraction& contraction);

// Whether what an instruction loads or counts is the same in each part of `block` steps along k.
bool is_same_in_blocks(const Kernel& kernel, const Inst& inst, int k, int64_t block);

}  // namespace luminal::kernel

// QuantisedForm: a factor of a contraction that is linear in small integers (weight-only
// quantisation).
//
// Dequantised weights have a scale, and often a zero point, per quantisation group, a block of
// integers that are consecutive along k: weight = Σ slope · integer + offset, where a slope is a
// scale and the offset stems from a zero point. Per block, the dot product with another factor x is
// slope · Σ integer · x + offset · Σ x, so an integer costs one multiply-add and no weight is ever
// materialised.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {

struct QuantisedTerm {
  InstId integer;  // in the contraction's stage: a load of i8, u8 or u4
  Stage slope;     // the scale, an f32; a stage without loops
};

struct QuantisedForm {
  int64_t block = 1;  // divides k's extent; slopes and offset are constant within a block
  std::vector<QuantisedTerm> terms;  // at least one
  std::optional<Stage> offset;
  bool rounded = false;  // the weight was rounded to bf16; sums by blocks needn't round
};

// Up to this many rows (GEMV), integers are converted as they are streamed; with more rows it is
// faster to dequantise the factor, or to convert its integers to bf16, once for all rows.
constexpr int64_t kMostStreamedRows = 8;

// Whether small integers are loaded for the right factor, as the form below requires.
bool has_small_integers(const Kernel& kernel, const Contraction& contraction);

// The form of the right factor; nullopt if it has another form, or if the extent of k isn't known.
std::optional<QuantisedForm> quantised_form(const Kernel& kernel, const Contraction& contraction);

// Whether what an instruction loads or counts is constant within each block of `block` steps along
// k.
bool is_same_in_blocks(const Kernel& kernel, const Inst& inst, LoopId k, int64_t block);

}  // namespace luminal::kernel

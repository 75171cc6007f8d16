// Forms: what a kernel is, recognised once, when finish() completes it. Cost model, planner and
// backends read the answers here instead of asking the recognisers again.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/recognise/contraction_form.h"
#include "luminal/kernel/recognise/masked_range.h"
#include "luminal/kernel/recognise/quantised_form.h"
#include "luminal/kernel/recognise/row_block_form.h"
#include "luminal/kernel/recognise/softmax_form.h"
#include "luminal/kernel/recognise/split_softmax.h"
#include "luminal/kernel/recognise/window_form.h"

namespace luminal::kernel {

struct Forms {
  std::optional<ContractionForm> contraction;
  // By contraction: how its right factor is quantised, if it is.
  std::vector<std::optional<QuantisedForm>> quantised;
  std::optional<WindowForms> windows;      // of its right factors
  std::optional<RowBlockForm> row_blocks;  // of a kernel that is no contraction
  std::optional<MaskedRange> masked;       // the keys that its rows see
  std::optional<SoftmaxForm> softmax;
  int64_t keys_of_range = 0;          // of a split if nothing else is chosen; 0: can't be split
  std::optional<SplitSoftmax> split;  // if that is the default; both kernels are finished
};

// Asks all recognisers and keeps the answers in the kernel. The kernel must not change afterwards,
// except through finish().
void recognise(Kernel& kernel);

// The answers. The kernel must be finished.
const Forms& forms_of(const Kernel& kernel);

// The split of attention into ranges of at most so many keys; its own number, Forms::keys_of_range,
// if nothing is asked for or if there are no more keys than that.
SplitSoftmax split_into(const Kernel& kernel, std::optional<int64_t> keys_of_range = {});

}  // namespace luminal::kernel

#include "luminal/kernel/recognise/forms.h"

#include "luminal/base/check.h"

namespace luminal::kernel {

void recognise(Kernel& kernel) {
  auto forms = std::make_shared<Forms>();
  forms->contraction = contraction_form(kernel);
  if (forms->contraction) {
    for (const Contraction& contraction : forms->contraction->contractions) {
      forms->quantised.push_back(has_small_integers(kernel, contraction)
                                     ? quantised_form(kernel, contraction)
                                     : std::nullopt);
    }
  } else {
    forms->row_blocks = row_block_form(kernel);
    if (forms->row_blocks) forms->masked = masked_range(kernel, forms->row_blocks->rows);
  }
  forms->softmax = softmax_form(kernel);
  if (forms->softmax) forms->split = split_softmax(kernel, *forms->softmax);
  kernel.forms = std::move(forms);
}

const Forms& forms_of(const Kernel& kernel) {
  LUMINAL_CHECK(kernel.forms != nullptr, "a kernel was asked for its forms before finish()");
  return *kernel.forms;
}

SplitSoftmax split_into(const Kernel& kernel, int64_t keys_of_range) {
  const Forms& forms = forms_of(kernel);
  if (keys_of_range == kKeysOfRange) return *forms.split;
  std::optional<SplitSoftmax> split = split_softmax(kernel, *forms.softmax, keys_of_range);
  return split ? std::move(*split) : *forms.split;
}

}  // namespace luminal::kernel

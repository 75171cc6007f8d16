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
    forms->windows = window_forms(kernel, *forms->contraction);
  } else {
    forms->row_blocks = row_block_form(kernel);
    if (forms->row_blocks) forms->masked = masked_range(kernel, forms->row_blocks->rows);
  }
  forms->softmax = softmax_form(kernel);
  if (forms->softmax) {
    const SplitForm split = split_form(kernel, *forms->softmax);
    forms->keys_of_range = split.keys_of_range;
    if (split.is_default) forms->split = split_softmax(kernel, *forms->softmax, kKeysOfRange);
  }
  kernel.forms = std::move(forms);
}

const Forms& forms_of(const Kernel& kernel) {
  LUMINAL_CHECK(kernel.forms != nullptr, "a kernel was asked for its forms before finish()");
  return *kernel.forms;
}

SplitSoftmax split_into(const Kernel& kernel, std::optional<int64_t> keys_of_range) {
  const Forms& forms = forms_of(kernel);
  LUMINAL_CHECK(forms.keys_of_range > 0, "a kernel was split that can't be");
  const int64_t own = forms.keys_of_range;
  if (keys_of_range.value_or(own) == own && forms.split) return *forms.split;
  std::optional<SplitSoftmax> split =
      split_softmax(kernel, *forms.softmax, keys_of_range.value_or(own));
  if (!split) split = split_softmax(kernel, *forms.softmax, own);
  return *std::move(split);
}

}  // namespace luminal::kernel

#include "luminal/backends/cpu/plan/split_attention.h"

#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends::cpu {

std::shared_ptr<const kernel::SplitSoftmax> split_of(const kernel::KernelStep& step) {
  const std::optional<int64_t> keys = step.schedule.find(kernel::Knob::KeysOfRange);
  return std::make_shared<kernel::SplitSoftmax>(kernel::split_into(step.lowered.kernel, keys));
}

}  // namespace luminal::backends::cpu

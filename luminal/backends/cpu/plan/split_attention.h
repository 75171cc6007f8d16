// The two kernels of a step by Strategy::SplitAttention: ranges of keys, and their combination.
#pragma once

#include <memory>

#include "luminal/kernel/plan/plan.h"
#include "luminal/kernel/recognise/split_softmax.h"

namespace luminal::backends::cpu {

std::shared_ptr<const kernel::SplitSoftmax> split_of(const kernel::KernelStep& step);

}  // namespace luminal::backends::cpu

// compare_values: how far two values of one class of terms may differ, by what the rule promises.
#pragma once

#include <string>

#include "luminal/graph/tensor_data.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::rule_testing {

using search::RuleClass;

// Empty where they agree, else the first element that doesn't. `*_exact` are the same values
// without the rounding of floats, the yardstick: beyond Exact, a value passes that is within the
// tolerance of the other, or no further from the other's yardstick than the other is. Integers and
// bool are always equal.
std::string compare_values(RuleClass numeric_class, const TensorData& one,
                           const TensorData& one_exact, const TensorData& other,
                           const TensorData& other_exact);

}  // namespace luminal::rule_testing

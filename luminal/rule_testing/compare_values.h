// compare_values: how far two values of one class of terms may differ, by the rule's numeric
// guarantee.
#pragma once

#include <string>

#include "luminal/graph/tensor_data.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::rule_testing {

using search::RuleClass;

// Empty if they agree, else the first element that doesn't. `*_exact` are the same values without
// rounding of floats. Beyond Exact, two elements agree if they are within the tolerance of each
// other, or if their exact values are and one of the two is within it of the other's exact value.
// Integers and bool must be equal. `reordered` is the largest magnitude that a sum meets in either
// value, where the rule sums in another order, else 0: then elements agree too if their exact
// values do, and each is as near to its own as the rounding of such a sum is.
std::string compare_values(RuleClass numeric_class, const TensorData& one,
                           const TensorData& one_exact, const TensorData& other,
                           const TensorData& other_exact, double reordered = 0);

}  // namespace luminal::rule_testing

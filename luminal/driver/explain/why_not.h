// Why a compile did not do what one might expect: two values in different kernels, a rule that
// doesn't apply.
#pragma once

#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/search/inspect/finding.h"

namespace luminal {

struct WhyNotAnswer {
  std::string variant;  // the plan that it is of; empty where there is only one
  search::Finding finding;
};

// `asked` is two tensors, a rule and a tensor, or a rule alone, which is then examined where it
// gets furthest. One answer per plan. UserError for names that the graph doesn't have.
std::vector<WhyNotAnswer> why_not(const Graph& graph, const CompileOptions& options,
                                  const std::vector<std::string>& asked);

}  // namespace luminal

// The field's words for what some nodes of a graph compute together: "norm", "rope", "attention".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "luminal/driver/report/node_forms.h"

namespace luminal {

struct OpWords {
  std::vector<std::string> before;  // the products of matrices
  std::vector<std::string> after;
};

// Of the nodes that a kernel computes and those it stores, in order. `n_matrices`: weights that it
// multiplies by or looks rows up in.
OpWords op_words(const NodeForms& forms, std::span<const NodeId> computed,
                 std::span<const NodeId> results, size_t n_matrices);

}  // namespace luminal

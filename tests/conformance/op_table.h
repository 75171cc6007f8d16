// The tensor surface by name: how each op of the matrix is built with the public API.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "luminal/graph/tensor.h"
#include "tests/conformance/case_index.h"

namespace luminal::conformance {

using Build =
    std::function<Tensor(Graph& graph, const std::vector<Tensor>& args, const Json& params)>;

const std::map<std::string, Build>& op_table();

// The variable of dynamic cases.
Expr dynamic_size();
// A dim, or another size: an integer, or text over the variable.
Expr size_of(const Json& json);
Dims dims_of(const Json& json);

}  // namespace luminal::conformance

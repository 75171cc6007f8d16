// The error message for an index out of bounds, shared by all backends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "luminal/graph/graph.h"

namespace luminal::interpret {

// `node` is a gather or a scatter, `row` its index value at `position`, `rows` the size of the dim.
std::string stray_row_text(const Graph& graph, NodeId node, int64_t row, int64_t rows,
                           std::span<const int64_t> position);

}  // namespace luminal::interpret

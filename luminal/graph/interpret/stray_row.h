// What is said of an index outside of its dim, by every backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "luminal/graph/graph.h"

namespace luminal::interpret {

// `node` is a gather or a scatter, `row` the value of its index at `position`, `rows` the size of
// the dim.
std::string stray_row_text(const Graph& graph, NodeId node, int64_t row, int64_t rows,
                           std::span<const int64_t> position);

}  // namespace luminal::interpret

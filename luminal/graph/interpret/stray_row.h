// What is said of an index outside of its dim, by every backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal::interpret {

// `node` is a gather or a scatter, `row` the value of its index at `position`, `rows` the size of
// the dim.
std::string stray_row_text(const Graph& graph, NodeId node, int64_t row, int64_t rows,
                           std::span<const int64_t> position);

// Where the element number `flat` of a row-major tensor is.
std::vector<int64_t> position_of(int64_t flat, std::span<const int64_t> dims);

}  // namespace luminal::interpret

#include "luminal/graph/interpret/stray_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace luminal::interpret {

std::string stray_row_text(const Graph& graph, NodeId node, int64_t row, int64_t rows,
                           std::span<const int64_t> position) {
  const std::string inside = rows == 0
                                 ? "out of range: there are no rows"
                                 : fmt::format("outside 0 … {}: there are {} rows", rows - 1, rows);
  return fmt::format("{}: index {} at [{}] is {}; check the index tensor {}", graph.describe(node),
                     row, fmt::join(position, ", "), inside,
                     graph.describe(graph.node(node).inputs[1]));
}

}  // namespace luminal::interpret

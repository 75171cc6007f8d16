// Random graphs over all primitives, dtypes and kinds of views, with dynamic dims and state, and
// random data for their leaves. A seed gives the same graph everywhere.
#pragma once

#include <memory>

#include "luminal/graph/graph.h"
#include "tests/support/random_source.h"

namespace luminal::tests {

struct RandomGraphOptions {
  int least_nodes = 5;
  int most_nodes = 60;
  int64_t most_elements = 3000;  // of any tensor, at the bounds of the variables
};

struct RandomGraph {
  std::unique_ptr<Graph> graph;
  std::vector<Expr> variables;
};

RandomGraph random_graph(RandomSource& random, const RandomGraphOptions& options = {});

// The variables within their bounds; the ends of their ranges, 0 and 1 are frequent.
Bindings random_bindings(const std::vector<Expr>& variables, RandomSource& random);

// Elements for a leaf: mostly moderate numbers, so that a chain of ops stays in range; now and then
// zeros, infinities, NaN, subnormals and the ends of the integers.
TensorData random_data(DType dtype, const std::vector<int64_t>& dims, RandomSource& random);

}  // namespace luminal::tests

// A case of the matrix as a graph.
#pragma once

#include "luminal/graph/tensor.h"
#include "tests/conformance/case_index.h"

namespace luminal::conformance {

struct Program {
  Graph graph;
  std::vector<Tensor> leaves;  // by input of the case
  Tensor result;               // the one output

  explicit Program(const Case& one);
};

}  // namespace luminal::conformance

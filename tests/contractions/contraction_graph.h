// A contraction case as a graph, with what is known of each dim of its leaves and results: so that
// a graph of a few rows and columns computes just those elements of a large one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/contractions/contraction_case.h"

namespace luminal::tests {

// What runs along a dim.
enum class Axis : uint8_t { Whole, Rows, Columns };

struct AxisOfDim {
  Axis axis = Axis::Whole;
  Expr size = 1;       // of the axis
  int64_t before = 0;  // elements that a slice leaves out
  int64_t after = 0;
  bool flipped = false;

  Expr extent() const { return before + size + after; }
};
using Axes = std::vector<AxisOfDim>;

struct ContractionGraph {
  struct Leaf {
    NodeId node;
    std::string name;
    Axes axes;
  };
  // What is read after a run, and the node whose value it then is.
  struct Result {
    NodeId read, value;
    Axes axes;
  };
  std::unique_ptr<Graph> graph;
  std::vector<Leaf> leaves;
  std::vector<Result> results;
};

struct Extents {
  Expr rows, columns, depth;
};
// Those of the case itself, with its variable.
Extents extents_of(const ContractionCase& one);
ContractionGraph contraction_graph(const ContractionCase& one, const Extents& extents);

// The name of the one variable that there may be.
inline constexpr const char* kDynamicSize = "s";

}  // namespace luminal::tests

// The values of a graph by the f64 interpreter, each with a bound on how far a back end may be from
// it: a running error analysis through the whole graph, see float_bounds.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/graph/interpret/interpreter.h"

namespace luminal::tests {

struct BoundedTensor {
  DType dtype;  // as the graph declares it
  std::vector<int64_t> dims;
  std::vector<double> reals;      // of floats, else empty
  std::vector<int64_t> integers;  // of all others, else empty
  std::vector<double> errors;     // by element: 0 exact, infinity unknown

  size_t size() const { return errors.size(); }
  size_t unknown() const;
};

// Of each of `nodes`, which may be leaves.
std::vector<BoundedTensor> bounded_values(const Graph& graph, const Bindings& bindings,
                                          const interpret::LeafData& leaf,
                                          std::span<const NodeId> nodes);

// What is wrong with `got`, or nothing: the first element outside its bound, and how many there
// are.
std::optional<std::string> outside(const BoundedTensor& wanted, const TensorData& got);

}  // namespace luminal::tests

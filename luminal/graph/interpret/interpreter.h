// The reference interpreter: defines a graph's values, and is simple enough to be trusted.
//
// It evaluates on demand. Views and element-wise ops are computed where they are read, so an
// expanded product is never stored; reductions and values with several readers are stored once. If
// only a few elements are requested, it computes only what they need.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/graph/interpret/arithmetic.h"

namespace luminal::interpret {

struct Options {
  Precision precision = Precision::AsDeclared;  // Float64: the accuracy reference
  Variation variation = Variation::None;
  uint64_t seed = 0;              // of the variation
  std::ostream* debug = nullptr;  // prints each step with shape and time
};

// The data of a leaf, contiguous, with its dims resolved.
using LeafData = std::function<TensorData(NodeId)>;

class Interpreter {
 public:
  // `graph` and what `leaf` returns must outlive this. Every variable of `graph` must be bound.
  Interpreter(const Graph& graph, Bindings bindings, LeafData leaf, Options options = {});
  ~Interpreter();

  // All elements of each node, evaluated together so that shared work is done once.
  std::vector<TensorData> values(std::span<const NodeId> nodes);
  // The elements of `node` at flat row-major `positions`, computing only what they need; integers
  // and bool are converted to double.
  std::vector<double> elements(NodeId node, std::span<const int64_t> positions);

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace luminal::interpret

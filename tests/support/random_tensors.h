// RandomTensors: a graph in the making, and what the next step may draw from it: sizes, dtypes, and
// the tensors that are there.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"
#include "tests/support/random_source.h"

namespace luminal::tests {

class RandomTensors {
 public:
  RandomTensors(RandomSource& random_source, Graph& made, int64_t most_elements)
      : random(random_source), graph(made), most_elements_(most_elements) {}

  Expr random_size();
  Dims random_dims();
  // Few enough elements at the bounds of the variables.
  bool fits(const Dims& dims) const;

  DType random_dtype();
  DType computing_dtype();  // any but those that are only read
  Scalar random_scalar(DType dtype);
  Reducer random_reducer();

  // Adds to the pool. UserError where it doesn't fit.
  Tensor add(const Tensor& tensor);
  // A new input or weight, which isn't in the pool.
  Tensor leaf(const Dims& dims, DType dtype);

  // Of the pool, or a cast of one.
  Tensor any();
  Tensor any_computing();
  Tensor any_float();
  Tensor any_integer();
  int any_axis(const Tensor& x);

  // A tensor of the same dims and dtype as `x`, from wherever.
  Tensor partner(const Tensor& x);
  // A reduction along an axis, spread over the axis again: what softmax and norms are made of.
  Tensor row_statistic(const Tensor& x);

  RandomSource& random;
  Graph& graph;
  std::vector<Expr> variables;
  std::vector<Tensor> pool;

 private:
  Tensor broadcast_leaf(const Tensor& x);
  Tensor shuffled(const Tensor& x);

  int64_t most_elements_;
};

}  // namespace luminal::tests

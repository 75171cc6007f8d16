// PatternGraph: a pattern with the projections around it, and data to run it on.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "luminal/driver/executable.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"
#include "luminal/search/fusion/fusion_pattern.h"

namespace luminal {

// swiglu: down(silu(gate(x)) · up(x)). add-rms-norm: the sum of x and a projection, and a
// projection of its norm to `intermediate` columns; the sum is a result too, since a residual
// stream needs it again. The projections are included because they affect fusion: the kernel before
// can absorb the sum, the kernel after the product.
class PatternGraph {
 public:
  // The same seed gives the same data: uniform, scaled so that results are about 1.
  PatternGraph(FusionPattern pattern, const FusionShape& shape, uint64_t seed);

  const Graph& graph() const { return *graph_; }
  const std::vector<Tensor>& results() const { return results_; }
  // Sets the data of an executable of the graph; all executables share it.
  void set_leaves(Executable& executable) const;

 private:
  Tensor leaf(Role role, const char* name, std::vector<int64_t> dims, double middle, double spread);
  Tensor rows(const char* name);                              // [tokens, hidden]
  Tensor matrix(const char* name, int64_t from, int64_t to);  // as linear layers have it
  Tensor projected(const char* name, const Tensor& x, int64_t to);

  FusionShape shape_;
  uint64_t seed_;
  std::unique_ptr<Graph> graph_;
  std::vector<Tensor> results_;
  std::vector<std::pair<Tensor, TensorData>> data_;
};

}  // namespace luminal

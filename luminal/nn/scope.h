// Scope: where a layer's parameters live in a graph, and how they are named.
//
// A layer is a function of a scope and tensors. Names follow PyTorch's modules, so that a state
// dict loads as it is: linear(scope.child("fc1"), x, 8) makes the weights "fc1.weight" and
// "fc1.bias".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"

namespace luminal::nn {

class LUMINAL_API Scope {
 public:
  explicit Scope(Graph& graph, std::string prefix = "", DType dtype = DType::F32);

  Graph& graph() const { return *graph_; }
  const std::string& prefix() const { return prefix_; }
  DType dtype() const { return dtype_; }  // of the weights it makes

  // The scope "prefix.name"; a name may hold dots. Items of lists are numbered: child(0) is "0".
  Scope child(std::string_view name) const;
  Scope child(int index) const;
  // The weight "prefix.name". Asked for again with the same dims it is the same one (tied weights);
  // with others it is a UserError. Dims are numbers: a weight has one size.
  Tensor weight(std::string_view name, const Dims& dims) const;

 private:
  std::string path(std::string_view name) const;

  Graph* graph_;
  std::string prefix_;
  DType dtype_;
};

struct Parameter {
  std::string name;
  std::vector<int64_t> dims;
  DType dtype = DType::F32;
};

// The weights of a graph, literals aside, sorted by name.
LUMINAL_API std::vector<Parameter> parameters(const Graph& graph);
// How many elements they have together.
LUMINAL_API int64_t n_parameters(const Graph& graph);

}  // namespace luminal::nn

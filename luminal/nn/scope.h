// Scope: where a layer's parameters live in a graph, and how they are named.
//
// A layer is a function of a scope and tensors. Names follow PyTorch's modules, so that a state
// dict loads as it is: linear(scope.child("fc1"), x, 8) makes the weights "fc1.weight" and
// "fc1.bias".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/quantised.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"

namespace luminal::nn {

// Which weights are quantised, by their full names: none for a plain one.
using WeightFormats = std::function<std::optional<BlockFormat>(const std::string& name)>;

class LUMINAL_API Scope {
 public:
  explicit Scope(Graph& graph, std::string prefix = "", DType dtype = DType::F32);

  // The same scope, whose weights and those of its children are quantised as `formats` says.
  Scope with_formats(WeightFormats formats) const;

  Graph& graph() const;  // UserError once it is gone
  const std::string& prefix() const { return prefix_; }
  DType dtype() const { return dtype_; }  // of the weights it makes

  // The scope "prefix.name"; a name may hold dots. Items of lists are numbered: child(0) is "0".
  Scope child(std::string_view name) const;
  Scope child(int index) const;
  // The weight "prefix.name". Asked for again with the same dims it is the same one (tied weights);
  // with others it is a UserError. Dims are numbers: a weight has one size. Of a quantised one
  // these are the values, computed from its planes.
  Tensor weight(std::string_view name, const Dims& dims) const;
  // The planes of a quantised weight, the weights "prefix.name.quants", "….scales" and, if its
  // format has them, "….offsets"; none for a plain one.
  std::optional<Quantised> quantised(std::string_view name, const Dims& dims) const;

 private:
  std::string path(std::string_view name) const;
  Tensor leaf(const std::string& full, const Dims& dims, DType dtype) const;

  std::shared_ptr<const GraphHome> home_;
  std::string prefix_;
  DType dtype_;
  std::shared_ptr<const WeightFormats> formats_;  // null: all are plain
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

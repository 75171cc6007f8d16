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

// The format of each quantised weight, by its full name; nullopt for a plain weight.
using WeightFormats = std::function<std::optional<BlockFormat>(const std::string& name)>;

class LUMINAL_API Scope {
 public:
  explicit Scope(Graph& graph, std::string prefix = "", DType dtype = DType::F32);

  // The same scope, with weights here and in its children quantised as `formats` says.
  Scope with_formats(WeightFormats formats) const;

  Graph& graph() const;  // UserError if it no longer exists
  const std::string& prefix() const { return prefix_; }
  DType dtype() const { return dtype_; }  // of the weights it creates

  // The scope "prefix.name"; a name may hold dots. Items of lists are numbered: child(0) is "0".
  Scope child(std::string_view name) const;
  Scope child(int index) const;
  // The weight "prefix.name". Asking again with the same dims returns the same one (tied weights);
  // with other dims it is a UserError. Dims must be constants. A quantised weight is returned as
  // its dequantised values.
  Tensor weight(std::string_view name, const Dims& dims) const;
  // The tensors of a quantised weight: "prefix.name.quants", "….scales" and, if its format has
  // them, "….offsets"; nullopt for a plain weight.
  std::optional<Quantised> quantised(std::string_view name, const Dims& dims) const;

 private:
  std::string path(std::string_view name) const;
  Tensor leaf(const std::string& full, const Dims& dims, DType dtype) const;

  std::shared_ptr<const GraphHome> home_;
  std::string prefix_;
  DType dtype_;
  std::shared_ptr<const WeightFormats> formats_;  // null: no weight is quantised
};

struct Parameter {
  std::string name;
  std::vector<int64_t> dims;
  DType dtype = DType::F32;
};

// The weights of a graph, without literals, sorted by name.
LUMINAL_API std::vector<Parameter> parameters(const Graph& graph);
// The total number of their elements.
LUMINAL_API int64_t n_parameters(const Graph& graph);

}  // namespace luminal::nn

// TensorRef: refers to a tensor of an executable, by a tensor of the graph or by name.
#pragma once

#include <string>
#include <string_view>

#include "luminal/graph/tensor.h"

namespace luminal {

// Only lives as an argument of a call, so it owns nothing. A name is that of a leaf or an output,
// or the label of a kept tensor; if a leaf and an output share it, set() means the leaf and get()
// the output.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: a tensor is one
  TensorRef(std::string_view name) : name_(name) {}      // NOLINT: a name stands for one
  TensorRef(const std::string& name) : name_(name) {}    // NOLINT: likewise
  TensorRef(const char* name) : name_(name) {}           // NOLINT: likewise

  const Tensor* tensor() const { return tensor_; }  // null where it is given by name
  std::string_view name() const { return name_; }

 private:
  const Tensor* tensor_ = nullptr;
  std::string_view name_;
};

}  // namespace luminal

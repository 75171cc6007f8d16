// TensorRef: refers to a tensor of an executable, by a tensor of the graph, by name, or by a port.
#pragma once

#include <string>
#include <string_view>

#include "luminal/base/ids.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct ExecutablePortTag;
// Where an executable has a leaf or a result: Executable::leaf_port() and result_port() find it
// once, and calls that are given it look nothing up. Clones have the same ports.
using ExecutablePort = Id<ExecutablePortTag>;

// Only lives as an argument of a call, so it owns nothing. A name is that of a leaf or an output,
// or the label of a kept tensor; if a leaf and an output share it, set() means the leaf and get()
// the output.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: a tensor is one
  TensorRef(std::string_view name) : name_(name) {}      // NOLINT: a name stands for one
  TensorRef(const std::string& name) : name_(name) {}    // NOLINT: likewise
  TensorRef(const char* name) : name_(name) {}           // NOLINT: likewise

  TensorRef(ExecutablePort port) : port_(port) {}  // NOLINT: likewise

  const Tensor* tensor() const { return tensor_; }  // null where it is given by name or port
  std::string_view name() const { return name_; }
  ExecutablePort port() const { return port_; }  // none where it is given by tensor or name

 private:
  const Tensor* tensor_ = nullptr;
  std::string_view name_;
  ExecutablePort port_;
};

}  // namespace luminal

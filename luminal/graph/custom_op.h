// custom_op: a user's own op, as a shape rule, a callback on host data, and rules and a kernel
// where it has them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct TensorType {
  Dims dims;
  DType dtype;
};

// Tensors as a CustomKernel sees them: contiguous and row-major, u4 packed as in TensorData.
// Operands are aligned to their element, results to 64 bytes; a result overlaps no operand.
struct KernelOperand {
  DType dtype = DType::F32;
  std::span<const int64_t> dims = {};
  const void* data = nullptr;

  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};
struct KernelResult {
  DType dtype = DType::F32;
  std::span<const int64_t> dims = {};
  void* data = nullptr;  // not zeroed

  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// One call of a kernel. What it refers to is there until the call returns.
struct KernelCall {
  std::span<const KernelOperand> operands;  // the op's inputs, in their order
  KernelResult result;                      // whole: the call writes its points of it
  // The points to compute, counted row-major over the result's leading `parallel_dims` dims. Point
  // p's elements start at p times the product of the other dims.
  int64_t begin = 0;
  int64_t end = 0;
};

// Code that computes the op over memory, without a copy or an allocation around it.
struct CustomKernel {
  // How many leading dims of the result hold points that don't depend on each other; 0: it is
  // called once, for all of it.
  int parallel_dims = 1;
  // Called for ranges that cover every point once, from several threads at the same time; not at
  // all where the result is empty. So it must be safe to call at once with itself, and how points
  // are cut into ranges must not change their values. What it throws ends the run, after all
  // threads are done, as a CustomOpError of the first range that failed.
  std::function<void(const KernelCall&)> run = {};
};

struct CustomOp {
  std::string name;
  // From the types of the inputs to the type of the result; throws on wrong ones.
  std::function<TensorType(const std::vector<TensorType>&)> shape_rule;
  // Computes the result: `inputs` are contiguous, `result` has the resolved dims.
  std::function<void(const std::vector<TensorData>& inputs, TensorData::Writable& result)> compute;
  // Rules about it, as docs/rules.md has them: (Call1 "name" x) is this op of one input, up to
  // Call4. What a rule turns into primitives runs in kernels. The name must be this op's alone.
  std::string rules = {};
  // Computes it in place of `compute` on backends that run kernels. `compute` stays the meaning:
  // the interpreter uses it, and checked runs compare the kernel with it.
  std::optional<CustomKernel> kernel = {};
};

// What a function of a custom op threw, with the op's name before its message. The exception itself
// is nested in it: std::rethrow_if_nested().
class LUMINAL_API CustomOpError : public UserError {
 public:
  CustomOpError(std::string op, const std::string& message);
  ~CustomOpError() override;

  const std::string& op() const { return op_; }

 private:
  std::string op_;
};

LUMINAL_API Tensor custom_op(CustomOp op, const std::vector<Tensor>& inputs);

}  // namespace luminal

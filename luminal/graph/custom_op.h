// custom_op: a user's own op, as a shape rule and a callback on host data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct TensorType {
  Dims dims;
  DType dtype;
};

struct CustomOp {
  std::string name;
  // From the types of the inputs to the type of the result; throws UserError on wrong ones.
  std::function<TensorType(const std::vector<TensorType>&)> shape_rule;
  // Computes the result: `inputs` are contiguous, `result` has the resolved dims.
  std::function<void(const std::vector<TensorData>& inputs, TensorData::Writable& result)> compute;
  // Rules about it, as docs/rules.md has them: (Call1 "name" x) is this op of one input, up to
  // Call4. What a rule turns into primitives runs in kernels. The name must be this op's alone.
  std::string rules = {};
};

LUMINAL_API Tensor custom_op(CustomOp op, const std::vector<Tensor>& inputs);

}  // namespace luminal

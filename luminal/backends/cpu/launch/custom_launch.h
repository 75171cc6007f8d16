// Launches the kernel of a custom op: resolves its tensors' sizes and divides points among threads.
#pragma once

#include <span>
#include <vector>

#include "luminal/graph/custom_op.h"

namespace luminal::backends::cpu {

// Everything that a custom kernel needs for one set of sizes. Reusable while sizes don't change.
struct CustomLaunch {
  const CustomOp* op = nullptr;
  std::vector<std::vector<int64_t>> dims;  // of the operands, then of the result
  std::vector<KernelOperand> operands;     // dims and addresses are filled in when it runs
  KernelResult result;
  int64_t points = 0;  // 0 if the result is empty
  int threads = 1;     // number of shares
};

// The op must have a kernel. `types` are those of the operands, then of the result.
CustomLaunch prepare_custom_launch(const CustomOp& op, std::span<const TensorType> types,
                                   const Bindings& bindings, int threads);

// Reads operand k at params[k] and writes to the last param. Allocates nothing. Throws
// CustomOpError for the first range of points that failed.
void run(CustomLaunch& launch, std::span<const void* const> params);

}  // namespace luminal::backends::cpu

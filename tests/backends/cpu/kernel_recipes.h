// The row kernels of the slice by hand, as lowering makes them: softmax, norms, GeLU, SwiGLU,
// rotary.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// A kernel over [rows, columns] in a float dtype; 16-bit ones compute in f32 and round at the end.
using Recipe = std::function<kernel::Kernel(DType dtype, Expr rows, Expr columns)>;
const std::vector<std::pair<std::string, Recipe>>& recipes();

}  // namespace luminal::backends::cpu

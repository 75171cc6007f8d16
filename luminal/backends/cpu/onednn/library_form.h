// LibraryForm: a kernel as a single GEMM of the library, epilogue included.
//
// Matched before weights are packed into panels: the library needs strides of the original tensors,
// and packs them in its own layout.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/result.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// A param of the kernel, with its strides over the kernel's variables.
struct LibraryTensor {
  kernel::ParamId param;
  DType dtype = DType::F32;
  std::vector<Expr> batch = {};
  Expr row = 0;
  Expr column = 0;
  Expr start = 0;  // offset of the first element
};

struct LibraryPostOp {
  PostOpKind kind;
  std::optional<LibraryTensor> tensor;  // of Add and Multiply
};

// See LibraryMatmulShape. Sizes and strides of b are static, so that it can be packed once.
struct LibraryForm {
  std::vector<Expr> batch;
  Expr m, n, k;
  LibraryTensor a, b, c;
  std::optional<LibraryTensor> bias;
  std::vector<LibraryPostOp> post_ops;
};

// Matches products of f32 by f32 or bf16 by bf16, stored as f32 or bf16, with an epilogue of
// activations and of sums and products with other tensors; otherwise gives the reason. `finite`:
// NaN need not stay NaN, which allows relu: the library's gives 0 for NaN.
Result<LibraryForm> library_form(const kernel::Kernel& kernel, bool finite);

// The value of a size, a stride or a start.
int64_t value_at(Expr e, const Bindings& bindings);
// The product at some sizes.
LibraryMatmulShape shape_at(const LibraryForm& form, const Bindings& bindings, bool pack_b);

}  // namespace luminal::backends::cpu

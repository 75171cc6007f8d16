// LibraryForm: a kernel that is one matrix product of the library, epilogue included.
//
// Read off the kernel before its weights are packed into panels: what the library wants are strides
// of the tensors themselves, and it has an order of its own to pack them in.
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
  int param = -1;
  DType dtype = DType::F32;
  std::vector<Expr> batch = {};
  Expr row = 0;
  Expr column = 0;
  Expr start = 0;  // the first element that is read or written
};

struct LibraryPostOp {
  PostOpKind kind;
  std::optional<LibraryTensor> tensor;  // of Add and Multiply
};

// See LibraryMatmulShape. All that b is indexed by is static, so that it can be packed once.
struct LibraryForm {
  std::vector<Expr> batch;
  Expr m, n, k;
  LibraryTensor a, b, c;
  std::optional<LibraryTensor> bias;
  std::vector<LibraryPostOp> post_ops;
};

// Products of f32 by f32 or bf16 by bf16 whose results are stored as they are, as bf16, or after
// sums and products with other tensors. `finite`: NaN need not stay NaN, so that relu, of which
// the library makes 0 there, is one of them. The reason otherwise.
Result<LibraryForm> library_form(const kernel::Kernel& kernel, bool finite);

// The value of a size, a stride or a start.
int64_t value_at(Expr e, const Bindings& bindings);
// The product at some sizes.
LibraryMatmulShape shape_at(const LibraryForm& form, const Bindings& bindings, bool pack_b);

}  // namespace luminal::backends::cpu

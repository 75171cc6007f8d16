// A product of matrices with random tensors for it, in any layout, and what it must give: for tests
// of whatever computes products.
#pragma once

#include <optional>
#include <vector>

#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/runtime/buffer.h"

namespace luminal::backends::cpu {

// Strides of a tensor batch × rows × columns.
MatmulStrides dense(const std::vector<int64_t>& batch, int64_t rows, int64_t columns);
MatmulStrides transposed(const std::vector<int64_t>& batch, int64_t rows, int64_t columns);
// Rows with a gap of 5 elements between them.
MatmulStrides gapped(const std::vector<int64_t>& batch, int64_t rows, int64_t columns);

LibraryMatmulShape dense_shape(DType dtype, std::vector<int64_t> batch, int64_t m, int64_t n,
                               int64_t k);

// A tensor batch × rows × columns as the library sees it, inside of memory filled with NaN: what it
// reads or writes between the elements shows.
struct PlacedTensor {
  DType dtype;
  std::vector<int64_t> dims;  // batch dims, rows, columns
  MatmulStrides strides;
  runtime::Buffer memory;

  int64_t stride(size_t d) const;
  int64_t offset(const std::vector<int64_t>& index) const;
  double at(const std::vector<int64_t>& index) const { return read(offset(index)); }
  double read(int64_t offset) const;
  void write(int64_t offset, double value);
  const void* data() const { return memory.bytes().data(); }
};

// A shape with tensors that fit it; c is yet to be computed.
struct MatmulProblem {
  explicit MatmulProblem(const LibraryMatmulShape& of, unsigned seed = 1);

  LibraryMatmulShape shape;
  PlacedTensor a, b, c;
  std::optional<PlacedTensor> bias = {};
  std::vector<PlacedTensor> tensors = {};  // of post-ops

  double expected(const std::vector<int64_t>& index) const;
};

// Computes c, with b packed first where the shape says so.
void run(MatmulProblem& problem, LibraryMatmul& matmul);

// Every element of c, and that nothing was written beside them.
void expect_right(const MatmulProblem& problem);

}  // namespace luminal::backends::cpu

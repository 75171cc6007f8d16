#include "tests/backends/cpu/matmul_problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "luminal/shape/scalar.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;

// Calls visit(index) for every element of `dims`.
template <typename Visit>
void for_each(const std::vector<int64_t>& dims, const Visit& visit) {
  std::vector<int64_t> index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

PlacedTensor place(DType dtype, std::vector<int64_t> dims, MatmulStrides strides) {
  PlacedTensor tensor{
      .dtype = dtype, .dims = std::move(dims), .strides = std::move(strides), .memory = {}};
  int64_t elements = 1;
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    elements += (tensor.dims[d] - 1) * tensor.stride(d);
  }
  tensor.memory = Buffer::allocate(static_cast<size_t>(byte_size(dtype, elements)));
  for (int64_t i = 0; i < elements; ++i) tensor.write(i, NAN);
  return tensor;
}

void fill(PlacedTensor& tensor, std::mt19937& random) {
  std::uniform_real_distribution<double> values(-1, 1);
  for_each(tensor.dims,
           [&](const auto& index) { tensor.write(tensor.offset(index), values(random)); });
}

double apply(PostOpKind kind, double x, double tensor) {
  switch (kind) {
    case PostOpKind::Relu:
      return x > 0 ? x : 0;
    case PostOpKind::GeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case PostOpKind::GeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case PostOpKind::Swish:
      return x / (1 + std::exp(-x));
    case PostOpKind::Add:
      return x + tensor;
    case PostOpKind::Multiply:
      return x * tensor;
  }
  return NAN;
}

std::vector<int64_t> dims(const LibraryMatmulShape& shape, int64_t rows, int64_t columns) {
  std::vector<int64_t> result = shape.batch;
  result.insert(result.end(), {rows, columns});
  return result;
}

}  // namespace

int64_t PlacedTensor::stride(size_t d) const {
  if (d < strides.batch.size()) return strides.batch[d];
  return d == strides.batch.size() ? strides.row : strides.column;
}

int64_t PlacedTensor::offset(const std::vector<int64_t>& index) const {
  int64_t result = 0;
  for (size_t d = 0; d < dims.size(); ++d) result += index[d] * stride(d);
  return result;
}

double PlacedTensor::read(int64_t offset) const {
  if (dtype == DType::F32) return static_cast<const float*>(data())[offset];
  return bf16_value(static_cast<const uint16_t*>(data())[offset]);
}

void PlacedTensor::write(int64_t offset, double value) {
  std::byte* bytes = memory.writable().data();
  if (dtype == DType::F32) {
    reinterpret_cast<float*>(bytes)[offset] = static_cast<float>(value);
  } else {
    reinterpret_cast<uint16_t*>(bytes)[offset] = bf16_bits(value);
  }
}

MatmulStrides dense(const std::vector<int64_t>& batch, int64_t rows, int64_t columns) {
  MatmulStrides strides{.batch = std::vector<int64_t>(batch.size()), .row = columns, .column = 1};
  int64_t size = rows * columns;
  for (size_t d = batch.size(); d-- > 0; size *= batch[d]) strides.batch[d] = size;
  return strides;
}

MatmulStrides transposed(const std::vector<int64_t>& batch, int64_t rows, int64_t columns) {
  MatmulStrides strides = dense(batch, columns, rows);
  std::swap(strides.row, strides.column);
  return strides;
}

MatmulStrides gapped(const std::vector<int64_t>& batch, int64_t rows, int64_t columns) {
  return dense(batch, rows, columns + 5);
}

LibraryMatmulShape dense_shape(DType dtype, std::vector<int64_t> batch, int64_t m, int64_t n,
                               int64_t k) {
  return {.dtype = dtype,
          .result = dtype,
          .batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .a = dense(batch, m, k),
          .b = dense(batch, k, n),
          .c = dense(batch, m, n)};
}

MatmulProblem::MatmulProblem(const LibraryMatmulShape& of, unsigned seed)
    : shape(of),
      a(place(of.dtype, dims(of, of.m, of.k), of.a)),
      b(place(of.dtype, dims(of, of.k, of.n), of.b)),
      c(place(of.result, dims(of, of.m, of.n), of.c)) {
  std::mt19937 random(seed);
  fill(a, random);
  fill(b, random);
  if (shape.bias) {
    bias = place(*shape.bias, {1, shape.n}, {.row = shape.n, .column = 1});
    fill(*bias, random);
  }
  for (const PostOp& op : shape.post_ops) {
    if (!has_tensor(op.kind)) continue;
    tensors.push_back(place(op.dtype, c.dims, op.strides));
    fill(tensors.back(), random);
  }
}

double MatmulProblem::expected(const std::vector<int64_t>& index) const {
  std::vector<int64_t> in_a = index, in_b = index;
  const size_t row = index.size() - 2, column = index.size() - 1;
  double result = 0;
  for (int64_t k = 0; k < shape.k; ++k) {
    in_a[column] = in_b[row] = k;
    result += a.at(in_a) * b.at(in_b);
  }
  if (bias) result += bias->at({0, index[column]});
  size_t tensor = 0;
  for (const PostOp& op : shape.post_ops) {
    result = apply(op.kind, result, has_tensor(op.kind) ? tensors[tensor++].at(index) : 0);
  }
  return result;
}

void run(MatmulProblem& problem, LibraryMatmul& matmul) {
  std::vector<const void*> tensors;
  for (const PlacedTensor& tensor : problem.tensors) tensors.push_back(tensor.data());
  const Buffer scratch = Buffer::allocate(std::max<size_t>(matmul.scratch_bytes(), 1));
  const void* b = problem.b.data();
  Buffer packed;
  if (problem.shape.pack_b) {
    packed = Buffer::allocate(matmul.packed_bytes());
    matmul.pack(b, packed.writable().data());
    b = packed.bytes().data();
  }
  matmul.run({.a = problem.a.data(),
              .b = b,
              .c = problem.c.memory.writable().data(),
              .bias = problem.bias ? problem.bias->data() : nullptr,
              .post_ops = tensors,
              .scratch = scratch.writable().data()});
}

void expect_right(const MatmulProblem& problem) {
  const PlacedTensor& c = problem.c;
  const bool wide = c.dtype == DType::F32;
  std::vector<bool> written(c.memory.size() / (wide ? 4 : 2), false);
  int64_t wrong = 0;
  for_each(c.dims, [&](const auto& index) {
    written[static_cast<size_t>(c.offset(index))] = true;
    const double expected = problem.expected(index), found = c.at(index);
    // Values are at most 1: a sum of k of them loses at most a few roundings of √k.
    const double scale = std::abs(expected) + std::sqrt(static_cast<double>(problem.shape.k));
    const double bound = scale * 1e-6 * 4 + (wide ? 0 : std::abs(expected) / 256);
    if (!(std::abs(found - expected) <= bound) && ++wrong <= 3) {
      ADD_FAILURE() << fmt::format("[{}]: {} instead of {}", fmt::join(index, ", "), found,
                                   expected);
    }
  });
  EXPECT_EQ(wrong, 0);
  for (size_t i = 0; i < written.size(); ++i) {
    const bool kept = written[i] || std::isnan(c.read(static_cast<int64_t>(i)));
    EXPECT_TRUE(kept) << "offset " << i << " lies beside the result";
  }
}

}  // namespace luminal::backends::cpu

// What a product of the library allocates in each run doesn't grow with its sizes.
#include <gtest/gtest.h>

#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/os/cpu.h"
#include "luminal/runtime/buffer.h"
#include "tests/support/counted_allocations.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;

tests::Allocations allocations_in_run(int64_t size, DType dtype, int threads) {
  const MatmulStrides square{.row = size, .column = 1};
  const LibraryMatmulShape shape{
      .dtype = dtype,
      .result = dtype,
      .m = size,
      .n = size,
      .k = size,
      .a = square,
      .b = square,
      .c = square,
      .pack_b = true,
      .bias = dtype,
      .post_ops = {{.kind = PostOpKind::Swish},
                   {.kind = PostOpKind::Multiply, .dtype = dtype, .strides = square}}};
  auto matmul = make_library_matmul(shape, threads);
  EXPECT_TRUE(matmul) << matmul.why();
  if (!matmul) return {};
  const Buffer data = Buffer::allocate(static_cast<size_t>(byte_size(dtype, size * size)));
  const Buffer c = Buffer::allocate(data.size());
  const Buffer packed = Buffer::allocate((*matmul)->packed_bytes());
  const Buffer scratch = Buffer::allocate((*matmul)->scratch_bytes());
  (*matmul)->pack(data.bytes().data(), packed.writable().data());
  const void* const tensors[] = {data.bytes().data()};
  tests::Allocations found;
  for (int run = 0; run < 2; ++run) {  // in the first, OpenMP may start threads
    tests::start_counting_allocations();
    (*matmul)->run({.a = data.bytes().data(),
                    .b = packed.bytes().data(),
                    .c = c.writable().data(),
                    .bias = data.bytes().data(),
                    .post_ops = tensors,
                    .scratch = scratch.writable().data()});
    found = tests::stop_counting_allocations();
  }
  return found;
}

TEST(LibraryAllocations, AreATableOfArguments) {
  if (!library_available()) GTEST_SKIP() << "this build is " << library_text();
  for (DType dtype : {DType::F32, DType::BF16}) {
    if (dtype == DType::BF16 && !base::cpu_info().features.avx512_bf16) {
      continue;  // oneDNN goes by way of f32, in memory of its own
    }
    for (int threads : {1, 2}) {
      const tests::Allocations small = allocations_in_run(16, dtype, threads);
      const tests::Allocations large = allocations_in_run(512, dtype, threads);
      EXPECT_LE(large.count, 16);
      EXPECT_LE(large.bytes, 1024);
      EXPECT_EQ(large.bytes, small.bytes);
    }
  }
}

}  // namespace
}  // namespace luminal::backends::cpu

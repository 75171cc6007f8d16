// Times plain oneDNN GEMMs with prepacked weights on request, so that a script can interleave them
// with others. Commands on standard input, one answer each on standard output:
//   prepare M N K DTYPE EPILOGUE THREADS BYTES
//             c = epilogue(a · b), epilogue one of none, bias, gelu (bias and GeLU); as many b as
//             take BYTES packed, at least one: "weights 16 packed 67108864 routine
//             brg:avx512_core_amx"
//   run N     the seconds of each of N runs; each uses the next b
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "apps/bench/harness/answer_commands.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/errors.h"
#include "luminal/runtime/buffer.h"
#include "luminal/shape/scalar.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;

struct Prepared {
  std::unique_ptr<LibraryMatmul> matmul;
  Buffer a, c, bias, scratch;
  std::vector<Buffer> weights;
  size_t next = 0;
};

Buffer random_values(DType dtype, int64_t count) {
  Buffer buffer = Buffer::allocate(static_cast<size_t>(byte_size(dtype, count)));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::byte* data = buffer.writable().data();
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == DType::F32) {
      reinterpret_cast<float*>(data)[i] = values(random);
    } else {
      reinterpret_cast<uint16_t*>(data)[i] = bf16_bits(values(random));
    }
  }
  return buffer;
}

LibraryMatmulShape read_shape(std::istream& in) {
  LibraryMatmulShape shape{.pack_b = true};
  std::string dtype, epilogue;
  in >> shape.m >> shape.n >> shape.k >> dtype >> epilogue;
  shape.dtype = shape.result = dtype_from_name(dtype).value();
  shape.a = {.row = shape.k, .column = 1};
  shape.b = {.row = shape.n, .column = 1};
  shape.c = {.row = shape.n, .column = 1};
  if (epilogue == "bias" || epilogue == "gelu") shape.bias = shape.dtype;
  if (epilogue == "gelu") shape.post_ops = {{.kind = PostOpKind::GeluTanh}};
  return shape;
}

std::string prepare(Prepared& prepared, std::istream& in) {
  const LibraryMatmulShape shape = read_shape(in);
  int threads = 0;
  size_t bytes = 0;
  in >> threads >> bytes;
  auto made = make_library_matmul(shape, threads);
  if (!made) throw UserError("library_bench: " + made.why());
  prepared.matmul = std::move(*made);
  prepared.a = random_values(shape.dtype, shape.m * shape.k);
  prepared.c = random_values(shape.result, shape.m * shape.n);
  prepared.bias = random_values(shape.dtype, shape.n);
  prepared.scratch = Buffer::allocate(prepared.matmul->scratch_bytes());
  const Buffer b = random_values(shape.dtype, shape.k * shape.n);
  const size_t packed = prepared.matmul->packed_bytes();
  while (prepared.weights.empty() || prepared.weights.size() * packed < bytes) {
    prepared.weights.push_back(Buffer::allocate(packed));
    prepared.matmul->pack(b.bytes().data(), prepared.weights.back().writable().data());
  }
  return fmt::format("weights {} packed {} routine {}", prepared.weights.size(), packed,
                     prepared.matmul->routine());
}

std::string run(Prepared& prepared, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    const Buffer& weight = prepared.weights[prepared.next++ % prepared.weights.size()];
    const auto start = std::chrono::steady_clock::now();
    prepared.matmul->run({.a = prepared.a.bytes().data(),
                          .b = weight.bytes().data(),
                          .c = prepared.c.writable().data(),
                          .bias = prepared.bias.bytes().data(),
                          .scratch = prepared.scratch.writable().data()});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    out += fmt::format("{:.9f} ", taken.count());
  }
  return out;
}

}  // namespace
}  // namespace luminal::backends::cpu

int main() {
  using namespace luminal::backends::cpu;
  return luminal::bench::answer_commands<Prepared>(
      "library_bench", {{"prepare", prepare}, {"run", [](Prepared& prepared, std::istream& in) {
                                                 int count = 0;
                                                 in >> count;
                                                 return run(prepared, count);
                                               }}});
}

// Plain oneDNN GEMMs with prepacked weights, for contractions.py to interleave with ours. Cases: a
// [M, K] by b [K, N] as linear, bias, gelu (bias and GeLU). Settings:
//   shape     [M, N, K]
//   dtype, threads
//   rotate    bytes: as many b as take them packed, at least one; each run uses the next one
// Answers have weights (how many b), packed (bytes of one) and oneDNN's routine. A build without
// oneDNN answers that it is absent.
#include <random>
#include <string>
#include <vector>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/errors.h"
#include "luminal/runtime/buffer.h"
#include "luminal/shape/scalar.h"
#include "luminal/version.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;

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

LibraryMatmulShape shape_of(const std::string& epilogue, const bench::Json& settings) {
  const std::vector<int64_t> dims = settings.at("shape");
  if (dims.size() != 3) throw UserError("the shape is M, N and K");
  LibraryMatmulShape shape{.m = dims[0], .n = dims[1], .k = dims[2], .pack_b = true};
  shape.dtype = shape.result = dtype_from_name(settings.at("dtype").get<std::string>()).value();
  shape.a = {.row = shape.k, .column = 1};
  shape.b = {.row = shape.n, .column = 1};
  shape.c = {.row = shape.n, .column = 1};
  if (epilogue != "linear") shape.bias = shape.dtype;
  if (epilogue == "gelu") shape.post_ops = {{.kind = PostOpKind::GeluTanh}};
  return shape;
}

class PreparedProduct : public bench::Prepared {
 public:
  PreparedProduct(const std::string& epilogue, const bench::Json& settings) {
    const LibraryMatmulShape shape = shape_of(epilogue, settings);
    auto made = make_library_matmul(shape, settings.at("threads"));
    if (!made) throw bench::Refusal("absent", made.why());
    matmul_ = std::move(*made);
    a_ = random_values(shape.dtype, shape.m * shape.k);
    c_ = random_values(shape.result, shape.m * shape.n);
    bias_ = random_values(shape.dtype, shape.n);
    scratch_ = Buffer::allocate(matmul_->scratch_bytes());
    const Buffer b = random_values(shape.dtype, shape.k * shape.n);
    const size_t packed = matmul_->packed_bytes();
    while (weights_.empty() || weights_.size() * packed < settings.at("rotate").get<size_t>()) {
      weights_.push_back(Buffer::allocate(packed));
      matmul_->pack(b.bytes().data(), weights_.back().writable().data());
    }
  }

  double run() override {
    const Buffer& weight = weights_[next_++ % weights_.size()];
    return bench::timed([&] {
      matmul_->run({.a = a_.bytes().data(),
                    .b = weight.bytes().data(),
                    .c = c_.writable().data(),
                    .bias = bias_.bytes().data(),
                    .scratch = scratch_.writable().data()});
    });
  }
  void add_facts(bench::Json& answer) override {
    answer["weights"] = weights_.size();
    answer["packed"] = matmul_->packed_bytes();
    answer["routine"] = matmul_->routine();
  }

 private:
  std::unique_ptr<LibraryMatmul> matmul_;
  Buffer a_, c_, bias_, scratch_;
  std::vector<Buffer> weights_;
  size_t next_ = 0;
};

bench::Contestant contestant() {
  return {.name = "oneDNN",
          .version = LUMINAL_VERSION,
          .cases = {"linear", "bias", "gelu"},
          .settings = {{"shape", {1, 16, 16}}, {"dtype", "f32"}, {"threads", 1}, {"rotate", 0}},
          .answer = bench::answer_by_runs([](const std::string& of, const bench::Json& settings) {
            return std::make_unique<PreparedProduct>(of, settings);
          })};
}

}  // namespace
}  // namespace luminal::backends::cpu

int main(int argc, char** argv) {
  return luminal::bench::bench_main(luminal::backends::cpu::contestant(), argc, argv);
}

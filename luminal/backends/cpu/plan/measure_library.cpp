#include "luminal/backends/cpu/plan/measure_library.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/base/check.h"
#include "luminal/runtime/buffer.h"
#include "luminal/shape/index/resolve_dims.h"
#include "luminal/shape/scalar.h"

namespace luminal::backends::cpu {
namespace {

using runtime::Buffer;

constexpr double kSeconds = 0.25;       // of all rounds, without the warm-up call of each
constexpr double kRoundSeconds = 1e-3;  // short calls are repeated to fill a round
constexpr size_t kRounds = 31;

// Repeats the same 4096 random numbers.
Buffer random_values(const kernel::Param& param, const Bindings& sizes) {
  const Result<ResolvedDims> dims = resolve_dims(param.dims, sizes);
  LUMINAL_CHECK(dims, dims.why());
  Buffer buffer = Buffer::allocate(dims->bytes(param.dtype));
  if (!is_float(param.dtype)) return buffer;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> values(-1, 1);
  std::byte* data = buffer.writable().data();
  const size_t period = std::min<size_t>(
      4096, dims->bytes(param.dtype) / static_cast<size_t>(byte_size(param.dtype, 1)));
  for (size_t i = 0; i < period; ++i) {
    store_float(param.dtype, data, static_cast<int64_t>(i), round_to(param.dtype, values(random)));
  }
  const size_t first = static_cast<size_t>(byte_size(param.dtype, static_cast<int64_t>(period)));
  for (size_t at = first; at < buffer.size(); at += first) {
    std::copy_n(data, std::min(first, buffer.size() - at), data + at);
  }
  return buffer;
}

struct Params {
  Params(const kernel::Kernel& kernel, const Bindings& sizes) {
    for (const kernel::Param& param : kernel.params) {
      buffers.push_back(random_values(param, sizes));
      addresses.push_back(buffers.back().bytes().data());
    }
  }
  std::vector<Buffer> buffers;
  std::vector<const void*> addresses;
};

double seconds_of(const std::function<void()>& call, int times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

MeasuredLibrary in_turn(const std::function<void()>& own, const std::function<void()>& library) {
  const double once = std::min(seconds_of(own, 1), seconds_of(library, 1));
  const int times = static_cast<int>(std::clamp(kRoundSeconds / std::max(once, 1e-7), 1.0, 1000.0));
  std::vector<double> own_times, library_times;
  double spent = 0, round = 0;
  do {
    own_times.push_back(seconds_of(own, times));
    library_times.push_back(seconds_of(library, times));
    round = (own_times.back() + library_times.back()) * times;
    spent += round;
  } while (spent + round < kSeconds && own_times.size() < kRounds);
  return {.own_seconds = median(std::move(own_times)),
          .library_seconds = median(std::move(library_times))};
}

}  // namespace

MeasuredLibrary measure_library(const kernel::Kernel& kernel, const LibraryStep& library,
                                const CompiledKernel& own, const LoadOptions& options) {
  const Bindings& sizes = options.typical_sizes;
  const Params own_params(own.kernel(), sizes), library_params(kernel, sizes);
  std::vector<int64_t> variables;
  for (Expr variable : own.kernel().variables) {
    variables.push_back(sizes.find(variable.name()).value());
  }
  const Launch launch = prepare_launch(own, variables, {.threads = options.threads});
  const Buffer own_scratch =
      Buffer::allocate(static_cast<size_t>(launch.scratch_bytes * launch.threads));

  LibraryLaunch product = library.prepare(sizes);
  const Buffer packed = Buffer::allocate(library.packed_bytes());
  if (library.packed_bytes() > 0) {
    library.pack(library_params.addresses[library.form().b.param.index()],
                 packed.writable().data());
  }
  const Buffer scratch =
      Buffer::allocate(product.matmul != nullptr ? product.matmul->scratch_bytes() : 0);
  return in_turn([&] { cpu::run(launch, own_params.addresses, own_scratch.writable().data()); },
                 [&] {
                   library.run(product, library_params.addresses, packed.bytes().data(),
                               scratch.writable().data());
                 });
}

}  // namespace luminal::backends::cpu

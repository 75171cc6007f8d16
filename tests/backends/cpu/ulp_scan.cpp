#include "tests/backends/cpu/ulp_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "luminal/backends/cpu/launch/launch.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"
#include "tests/support/on_threads.h"

namespace luminal::backends::cpu {
namespace {

constexpr int64_t kBlock = 1 << 14;

double ulp_of(double value) {
  if (value == 0) return 0x1p-149;
  return std::ldexp(1.0, std::max(std::ilogb(value) - 23, -149));
}

// The error in ULP; below zero where the values differ in kind.
double error_of(double want, float got) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : -1;
  if (std::isinf(static_cast<float>(want)) || std::isinf(got)) {
    const bool next_to_largest = std::fabs(want) > 0x1.fffffap127;  // one rounding decides
    return static_cast<float>(want) == got || next_to_largest ? 0 : -1;
  }
  if (want == 0) return got == 0 && std::signbit(want) == std::signbit(got) ? 0 : -1;
  return std::fabs(got - want) / ulp_of(want);
}

struct Scan {
  Op op;
  double (*exact)(double);
  uint64_t count;
  const std::function<uint32_t(uint64_t)>& bits_of;
  std::vector<CompiledKernel::Function> compiled = {};
  std::atomic<uint64_t> next = 0;
  std::atomic<int> failures = 0;
  std::mutex mutex = {};
  Worst worst = {};

  void fail(const char* what, float in, float got) {
    if (failures++ >= 10) return;
    std::lock_guard lock(mutex);
    ADD_FAILURE() << name(op) << " of " << in << " (bits " << std::bit_cast<uint32_t>(in)
                  << ") gave " << got << ": " << what;
  }

  void work() {
    std::vector<float> x(kBlock), y(kBlock), other(kBlock);
    alignas(64) std::byte scratch[4096];
    auto run_on = [&](size_t target, std::vector<float>& out, int64_t n) {
      const void* params[] = {x.data(), out.data()};
      compiled[target](params, &n, 0, n, scratch);
    };
    Worst mine;
    for (uint64_t start; (start = next.fetch_add(kBlock)) < count;) {
      const auto n = static_cast<int64_t>(std::min<uint64_t>(kBlock, count - start));
      for (int64_t i = 0; i < n; ++i) {
        x[static_cast<size_t>(i)] = std::bit_cast<float>(bits_of(start + static_cast<uint64_t>(i)));
      }
      run_on(0, y, n);
      for (size_t target = 1; target < compiled.size(); ++target) {
        run_on(target, other, n);
        for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
          const bool same = std::bit_cast<uint32_t>(y[i]) == std::bit_cast<uint32_t>(other[i]);
          if (!same && !std::isnan(y[i])) fail("other bits than the first target", x[i], other[i]);
        }
      }
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        const double error = error_of(exact(x[i]), y[i]);
        if (error < 0) fail("a value of another kind", x[i], y[i]);
        if (error > mine.ulps) mine = {error, x[i]};
      }
    }
    std::lock_guard lock(mutex);
    if (mine.ulps > worst.ulps) worst = mine;
  }
};

}  // namespace

kernel::Kernel pointwise(Op op, int n_inputs, DType dtype) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  for (int k = 0; k < n_inputs; ++k) b.param(dtype, {n});
  ParamId y = b.param(dtype, {n}, true);
  Expr i = b.outer(n);
  auto s = b.stage(dtype);
  std::vector<kernel::InstId> operands;
  for (int k = 0; k < n_inputs; ++k) operands.push_back(s.load(b.k, ParamId::at(k), {i}));
  s.op(op, dtype, operands);
  b.output(y, {i});
  return b.done();
}

void run_pointwise(size_t jit, const kernel::Kernel& kernel, std::vector<const void*> params,
                   int64_t n) {
  auto compiled = test_jits()[jit]->compile(kernel);
  Launch launch = prepare_launch(*compiled, std::vector<int64_t>{n}, {});
  alignas(64) static std::byte scratch[4096];
  ASSERT_LE(launch.scratch_bytes, static_cast<int64_t>(sizeof scratch));
  run(launch, params, scratch);
}

Worst worst_error(Op op, double (*exact)(double), uint64_t count,
                  const std::function<uint32_t(uint64_t)>& bits_of) {
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  Scan scan{.op = op, .exact = exact, .count = count, .bits_of = bits_of};
  for (Jit* jit : test_jits()) {
    kernels.push_back(jit->compile(pointwise(op, 1, DType::F32)));
    scan.compiled.push_back(kernels.back()->function());
  }
  tests::on_threads(0, [&] { scan.work(); });
  return scan.worst;
}

}  // namespace luminal::backends::cpu

#include "luminal/backends/cpu/launch/custom_launch.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/call_custom.h"
#include "luminal/runtime/thread_pool.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::backends::cpu {
namespace {

// Catches the exceptions of shares, which must not escape, and keeps that of the lowest range, so
// that the same run always reports the same error.
class FirstError {
 public:
  void keep_current(int64_t begin) {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr || begin < begin_) {
      error_ = std::current_exception();
      begin_ = begin;
    }
  }
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  int64_t begin_ = 0;
};

int64_t product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

}  // namespace

CustomLaunch prepare_custom_launch(const CustomOp& op, std::span<const TensorType> types,
                                   const Bindings& bindings, int threads) {
  CustomLaunch launch;
  launch.op = &op;
  for (const TensorType& type : types) {
    const Result<ResolvedDims> dims = resolve_dims(type.dims, bindings);
    if (!dims) throw UserError("run: custom op '" + op.name + "': " + dims.why());
    launch.dims.push_back(dims->sizes);
  }
  for (size_t k = 0; k + 1 < types.size(); ++k) {
    launch.operands.push_back({.dtype = types[k].dtype});
  }
  const std::span<const int64_t> result = launch.dims.back();
  launch.result.dtype = types.back().dtype;
  if (product(result) == 0) return launch;
  launch.points = product(result.first(static_cast<size_t>(op.kernel->parallel_dims)));
  // One thread for packed dtypes: two must not write the same byte. Otherwise all threads take
  // part, since the time per point is unknown.
  if (bits(types.back().dtype) < 8) return launch;
  launch.threads = static_cast<int>(std::clamp<int64_t>(launch.points, 1, threads));
  return launch;
}

void run(CustomLaunch& launch, std::span<const void* const> params) {
  LUMINAL_CHECK(params.size() == launch.operands.size() + 1,
                "a custom kernel got the wrong number of tensors");
  if (launch.points == 0) return;
  for (size_t k = 0; k < launch.operands.size(); ++k) {
    launch.operands[k].dims = launch.dims[k];
    launch.operands[k].data = params[k];
  }
  launch.result.dims = launch.dims.back();
  launch.result.data = const_cast<void*>(params.back());
  if (launch.threads == 1) {
    call_custom(*launch.op, "kernel", [&] {
      launch.op->kernel->run({launch.operands, launch.result, 0, launch.points});
    });
    return;
  }
  FirstError error;
  // The time is unknown: assume that waking helpers is worth it.
  const double us = std::numeric_limits<double>::infinity();
  runtime::run_shares(launch.threads, us, [&](int share) {
    const int64_t begin = launch.points * share / launch.threads;
    const int64_t end = launch.points * (share + 1) / launch.threads;
    try {
      launch.op->kernel->run({launch.operands, launch.result, begin, end});
    } catch (...) {
      error.keep_current(begin);
    }
  });
  call_custom(*launch.op, "kernel", [&] { error.rethrow(); });
}

}  // namespace luminal::backends::cpu

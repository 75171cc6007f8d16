#include "luminal/shape/index/resolve_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace luminal {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 16;

}  // namespace

Result<ResolvedDims> resolve_dims(const Dims& dims, const Bindings& bindings) {
  ResolvedDims resolved;
  for (Expr dim : dims) {
    const Expr::Value value = dim.evaluate(bindings);
    if (!value.value) {
      return Result<ResolvedDims>::failure(
          fmt::format("dim {} of {} has no value: {}", dim.text(), text(dims), value.why));
    }
    if (*value.value < 0) {
      return Result<ResolvedDims>::failure(
          fmt::format("dim {} of {} would be {}", dim.text(), text(dims), *value.value));
    }
    resolved.sizes.push_back(*value.value);
  }
  // With a dim of 0 there are no elements, even if the product of the others overflows.
  if (std::find(resolved.sizes.begin(), resolved.sizes.end(), 0) != resolved.sizes.end()) {
    resolved.count = 0;
    return resolved;
  }
  for (int64_t size : resolved.sizes) {
    if (__builtin_mul_overflow(resolved.count, size, &resolved.count) ||
        resolved.count > kMostElements) {
      return Result<ResolvedDims>::failure(fmt::format(
          "{} would be [{}], too many elements", text(dims), fmt::join(resolved.sizes, ", ")));
    }
  }
  return resolved;
}

std::string text(const Bindings& sizes) {
  std::string out;
  for (const auto& [name, value] : sizes.items()) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

}  // namespace luminal

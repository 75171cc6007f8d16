// Result<T>: a value or the reason there is none, for expected failures.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "luminal/base/check.h"

namespace luminal {

template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: a value converts to its success
  static Result failure(std::string why) {
    Result result;
    result.why_ = std::move(why);
    return result;
  }

  explicit operator bool() const { return value_.has_value(); }
  const T& operator*() const {
    LUMINAL_CHECK(value_.has_value(), "the value of a failed result was read: " + why_);
    return *value_;
  }
  T& operator*() {
    LUMINAL_CHECK(value_.has_value(), "the value of a failed result was read: " + why_);
    return *value_;
  }
  const T* operator->() const { return &**this; }
  // Why there is no value; empty on success.
  const std::string& why() const { return why_; }

 private:
  Result() = default;
  std::optional<T> value_;
  std::string why_;
};

}  // namespace luminal

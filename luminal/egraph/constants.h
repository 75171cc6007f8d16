// Constants: integers, floats, strings and containers, interned to 32-bit values.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/bigint.h"
#include "luminal/egraph/containers.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

// Equal constants have equal values. Floats are equal as in egglog: 0.0 is -0.0, and all NaNs
// are one.
class LUMINAL_API Constants {
 public:
  Value intern(int64_t number);
  Value intern(double number);
  Value intern(std::string_view text);
  Value intern(const BigInt& number);
  static constexpr Value boolean(bool value) { return Value{value ? 1u : 0u}; }
  static constexpr Value unit() { return Value{0}; }

  int64_t i64(Value value) const;
  double f64(Value value) const;
  // The reference holds until the next string is interned.
  const std::string& string(Value value) const;
  // The reference holds until the next BigInt is interned.
  const BigInt& bigint(Value value) const;
  static constexpr bool is_true(Value value) { return value.value != 0; }

  Containers containers;

 private:
  std::vector<int64_t> integers_;
  std::vector<double> floats_;
  std::vector<std::string> strings_;
  std::vector<BigInt> bigints_;
  std::unordered_map<int64_t, uint32_t> integer_ids_;
  std::unordered_map<uint64_t, uint32_t> float_ids_;
  std::unordered_map<std::string, uint32_t> string_ids_;
  std::unordered_map<std::string, uint32_t> bigint_ids_;  // by their keys
};

}  // namespace luminal::egraph

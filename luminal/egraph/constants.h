// Constants: integers, floats, strings and containers, interned to 32-bit values.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/bigint.h"
#include "luminal/egraph/byte_limit.h"
#include "luminal/egraph/containers.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

// Equal constants have equal values. As in egglog, 0.0 equals -0.0, and all NaNs are equal.
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
  // The reference is valid until the next string is interned.
  const std::string& string(Value value) const;
  // The reference is valid until the next BigInt is interned.
  const BigInt& bigint(Value value) const;
  static constexpr bool is_true(Value value) { return value.value != 0; }

  // Bytes of all constants, including containers.
  uint64_t bytes() const { return bytes_.used + containers.bytes(); }
  // Throws ByteLimitReached if a text of this size can't be interned within the limit; call it
  // before building the text.
  void expect_text(size_t size) const { bytes_.expect(cost_of_text(size)); }
  // RAII limit: while one exists, constants and containers beyond it throw ByteLimitReached.
  class Limited;

  Containers containers;

 private:
  // A text is stored twice: as an item and as a key.
  static constexpr uint64_t cost_of_text(size_t size) { return 2 * uint64_t{size} + 150; }

  ByteCount bytes_;
  std::vector<int64_t> integers_;
  std::vector<double> floats_;
  std::vector<std::string> strings_;
  std::vector<BigInt> bigints_;
  std::unordered_map<int64_t, uint32_t> integer_ids_;
  std::unordered_map<uint64_t, uint32_t> float_ids_;
  std::unordered_map<std::string, uint32_t> string_ids_;
  std::unordered_map<std::string, uint32_t> bigint_ids_;  // by BigInt::key
};

class Constants::Limited {
 public:
  Limited(Constants& constants, uint64_t most)
      : constants_(constants),
        own_(constants.bytes_.most),
        of_containers_(constants.containers.most_bytes()) {
    constants.bytes_.most = most;
    constants.containers.limit_bytes(most);
  }
  ~Limited() {
    constants_.bytes_.most = own_;
    constants_.containers.limit_bytes(of_containers_);
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  Constants& constants_;
  uint64_t own_, of_containers_;
};

}  // namespace luminal::egraph

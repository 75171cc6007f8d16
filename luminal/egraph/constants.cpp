#include "luminal/egraph/constants.h"

#include "luminal/base/check.h"

#include <bit>
#include <cmath>
#include <limits>

namespace luminal::egraph {
namespace {

// `cost` is the bytes of a new item: its key, itself, and the tables around them.
template <typename Map, typename Key, typename T>
Value intern_in(Map& ids, std::vector<T>& items, const Key& key, const T& item, ByteCount& bytes,
                uint64_t cost) {
  if (const auto known = ids.find(key); known != ids.end()) return Value{known->second};
  LUMINAL_CHECK(items.size() < Value::kNone, "32-bit constants are used up");
  bytes.add(cost);
  ids.try_emplace(key, static_cast<uint32_t>(items.size()));
  items.push_back(item);
  return Value{static_cast<uint32_t>(items.size() - 1)};
}

constexpr uint64_t kCostOfNumber = 48;

template <typename T>
const T& item_at(const std::vector<T>& items, Value value) {
  LUMINAL_CHECK(value.index() < items.size(),
                "value " + std::to_string(value.value) + " is no constant of this sort");
  return items[value.index()];
}

}  // namespace

Value Constants::intern(int64_t number) {
  return intern_in(integer_ids_, integers_, number, number, bytes_, kCostOfNumber);
}

Value Constants::intern(double number) {
  if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
  const double key = number == 0 ? 0.0 : number;  // 0.0 and -0.0 are one: the first interned stays
  return intern_in(float_ids_, floats_, std::bit_cast<uint64_t>(key), number, bytes_,
                   kCostOfNumber);
}

Value Constants::intern(std::string_view text) {
  const std::string copy(text);
  return intern_in(string_ids_, strings_, copy, copy, bytes_, cost_of_text(text.size()));
}

Value Constants::intern(const BigInt& number) {
  const std::string key = number.key();
  return intern_in(bigint_ids_, bigints_, key, number, bytes_, cost_of_text(key.size()));
}

int64_t Constants::i64(Value value) const { return item_at(integers_, value); }
double Constants::f64(Value value) const { return item_at(floats_, value); }
const std::string& Constants::string(Value value) const { return item_at(strings_, value); }
const BigInt& Constants::bigint(Value value) const { return item_at(bigints_, value); }

}  // namespace luminal::egraph

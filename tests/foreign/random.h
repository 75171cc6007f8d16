// Random: the generator's source of chance (splitmix64). A graph is its seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace luminal::tests::foreign {

class Random {
 public:
  // Mixed, for streams of neighbouring seeds would be one stream, shifted.
  explicit Random(uint64_t seed) : state_(mixed(mixed(seed) + 0x632BE59BD9B4E019U)) {}

  uint64_t bits() { return mixed(state_ += 0x9E3779B97F4A7C15U); }
  // Between both ends, which it includes.
  int64_t range(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[bits() % items.size()];
  }
  template <typename T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[bits() % items.size()];
  }

 private:
  static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace luminal::tests::foreign

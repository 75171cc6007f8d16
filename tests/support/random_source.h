// RandomSource: the same choices from the same seed, on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace luminal::tests {

class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : engine_(seed) {}

  // In [0, n).
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  // In [least, most].
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  bool chance(double probability) { return uniform() < probability; }
  // In [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // Roughly normal: a sum of uniform ones, which no library implements differently.
  double normal() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += uniform();
    return sum;
  }
  uint64_t bits() { return engine_(); }
  template <typename T>
  const T& of(std::span<const T> choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }
  template <typename T>
  const T& of(const std::vector<T>& choices) {
    return of(std::span<const T>(choices));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace luminal::tests

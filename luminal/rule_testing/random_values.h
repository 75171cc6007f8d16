// Random dims, maps, numbers and tensors for tests of rules: small, and rich in special cases.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "luminal/graph/tensor_data.h"
#include "luminal/search/terms/terms.h"

namespace luminal::rule_testing {

using search::Number;

// The same sequence for the same seed on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next();
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  bool one_in(size_t count) { return below(count) == 0; }
  double unit();  // in [0, 1)
  template <typename T, size_t N>
  const T& pick(const T (&items)[N]) {
    return items[below(N)];
  }

 private:
  uint64_t state_;
};

// Which values leaves take.
enum class Values : uint8_t {
  All,       // NaN, infinities, both zeros, subnormals, the largest and least
  Moderate,  // NaN, infinities and zeros, else magnitudes that sums and products can take
  Finite,    // magnitudes that sums and products can take
  Positive,  // the same above 0
};

DType random_dtype(Random& random);
// 0, 1, small, or a variable s or t.
Expr random_extent(Random& random);
Dims random_dims(Random& random);
// Values of s and t; 0 and 1 are among them.
Bindings random_sizes(Random& random);
// A view whose result has `dims`: the identity, or up to two steps away from it.
IndexMap random_map_into(Random& random, const Dims& dims);
// A view that depends on some of the indices of its result, in any order.
IndexMap random_projection_into(Random& random, const Dims& dims);
// An index expression over `dims`.
Expr random_index(Random& random, const Dims& dims);
Number random_number(Random& random, DType dtype, Values values);
TensorData random_data(Random& random, DType dtype, std::vector<int64_t> dims, Values values);

}  // namespace luminal::rule_testing

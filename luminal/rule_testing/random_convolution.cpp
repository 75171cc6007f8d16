#include "luminal/rule_testing/random_convolution.h"

#include <utility>

namespace luminal::rule_testing {

RandomConvolution random_convolution(Random& random) {
  const auto size = [&](size_t most) { return static_cast<int64_t>(1 + random.below(most)); };
  const int64_t images = size(2), out = size(3), channels = size(3), rows = size(7),
                columns = size(7);
  const Dims result = {images, 1, out, rows, columns};
  Dims body = result;
  body.emplace_back(9 * channels);
  const auto at = [&](int axis) { return Expr::index(axis, body[static_cast<size_t>(axis)]); };
  const Expr channel = at(5) / 9, row = at(5) / 3 % 3, column = at(5) % 3;
  IndexMap windows(body, {images, channels, rows + 2, columns + 2},
                   {at(0), channel, at(3) + row, at(4) + column});
  IndexMap filter = random.one_in(2)
                        ? IndexMap(body, {out, 9 * channels}, {at(2), at(5)})
                        : IndexMap(body, {out, channels, 3, 3}, {at(2), channel, row, column});
  return {result, 9 * channels, std::move(windows), std::move(filter)};
}

}  // namespace luminal::rule_testing

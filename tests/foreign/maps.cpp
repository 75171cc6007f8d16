#include "tests/foreign/maps.h"

#include <algorithm>

namespace luminal::tests::foreign {
namespace {

Index leaf_index(Builder& builder, const Shape& shape) {
  Random& random = builder.random();
  const Program& program = builder.program();
  if (!shape.empty() && random.chance(0.6)) {
    const auto k = static_cast<size_t>(random.range(0, static_cast<int64_t>(shape.size()) - 1));
    return axis(static_cast<int>(k), shape[k]);
  }
  if (!program.variables.empty() && random.chance(0.35)) {
    const int64_t k = random.range(0, static_cast<int64_t>(program.variables.size()) - 1);
    const Variable& v = program.variables[static_cast<size_t>(k)];
    return variable(static_cast<int>(k), v.name, v.low, v.high);
  }
  if (random.chance(0.08)) return number(random.range(-(1LL << 60), 1LL << 60));
  if (random.chance(0.1)) return number(random.range(-(1LL << 33), 1LL << 33));
  return number(random.range(-3, 20));
}

Index divisor(Builder& builder, const Shape& shape) {
  Random& random = builder.random();
  if (random.chance(0.15)) return max(leaf_index(builder, shape), number(random.range(1, 3)));
  const int64_t value = random.chance(0.1)   ? random.range(1, 1LL << 34)
                        : random.chance(0.5) ? random.pick({2, 3, 4, 5, 7, 8, 16})
                                             : random.range(1, 20);
  return number(random.chance(0.15) ? -value : value);
}

Index combined(Builder& builder, const Shape& shape, int depth) {
  Random& random = builder.random();
  const auto kind = static_cast<IndexKind>(
      random.range(static_cast<int>(IndexKind::Plus), static_cast<int>(IndexKind::Or)));
  const Index a = random_index(builder, shape, depth - 1);
  const bool divides =
      kind == IndexKind::FloorDiv || kind == IndexKind::CeilDiv || kind == IndexKind::Mod;
  return combine(kind, a,
                 divides ? divisor(builder, shape) : random_index(builder, shape, depth - 1));
}

// Past 2^53, where doubles are too coarse, and divided again.
Index wide_index(Builder& builder, const Shape& shape) {
  Random& random = builder.random();
  const Index step = number(random.range(1LL << random.range(40, 56), 1LL << 57));
  const Index rest = leaf_index(builder, shape);
  Index large = plus(times(leaf_index(builder, shape), step), rest);
  if (random.chance(0.5)) large = max(large, number(random.range(0, 9)));
  const auto kind =
      random.pick({IndexKind::Mod, IndexKind::Mod, IndexKind::FloorDiv, IndexKind::CeilDiv});
  return combine(kind, large, divisor(builder, shape));
}

bool is_fixed(const Index& dim) { return dim->low == dim->high; }

// An index of a dim of n elements, over the axes of a shape.
Index within(Builder& builder, const Shape& shape, const Index& n) {
  Random& random = builder.random();
  const Index last = minus(n, number(1));
  for (int trial = 0; trial < 4; ++trial) {
    const Index e = random_index(builder, shape, static_cast<int>(random.range(1, 3)));
    const Index value = random.chance(0.55)  ? mod(e, n)
                        : random.chance(0.7) ? min(max(e, number(0)), last)
                                             : max(number(0), min(last, e));
    if (is_safe(value)) return value;
  }
  return number(0);
}

// Every source dim at its own axis, or at a random one.
struct Made {
  Shape shape, map;
};

Made permuted(Builder& builder, const Shape& source) {
  Random& random = builder.random();
  std::vector<size_t> order(source.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  for (size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1],
              order[static_cast<size_t>(random.range(0, static_cast<int64_t>(k) - 1))]);
  }
  Made made{.shape = Shape(source.size()), .map = Shape(source.size())};
  for (size_t k = 0; k < order.size(); ++k) {
    made.shape[order[k]] = source[k];
    made.map[k] = axis(static_cast<int>(order[k]), source[k]);
  }
  return made;
}

// One dim changes, the others stay: flipped, sliced, repeated, grouped, wrapped.
Made one_changed(Builder& builder, const Shape& source) {
  Random& random = builder.random();
  const auto d = static_cast<size_t>(random.range(0, static_cast<int64_t>(source.size()) - 1));
  const Index n = source[d];
  const int a = static_cast<int>(d);
  Made made{.shape = source, .map = axes(source)};
  auto change = [&](const Index& extent, auto of) {
    made.shape[d] = extent;
    made.map[d] = of(axis(a, extent));
  };
  const int64_t g = random.range(2, 5);
  const int64_t kind = random.range(0, 6);
  if (kind == 0) {
    change(n, [&](const Index& i) { return minus(minus(n, number(1)), i); });
  } else if (kind == 1) {
    change(times(n, number(g)), [&](const Index& i) { return floor_div(i, number(g)); });
  } else if (kind == 2) {
    change(times(number(g), n), [&](const Index& i) { return mod(i, n); });
  } else if (kind == 3 && is_fixed(n) && n->low >= 1) {
    const int64_t step = random.range(1, 3), size = static_cast<int64_t>(n->low);
    const int64_t start = random.range(0, size - 1), count = (size - start + step - 1) / step;
    change(number(count),
           [&](const Index& i) { return plus(number(start), times(number(step), i)); });
  } else if (kind == 4 && is_fixed(n) && n->low >= 1) {
    const auto size = static_cast<int64_t>(n->low);
    const int64_t step = random.range(1, 3);
    change(number((size + step - 1) / step),
           [&](const Index& i) { return minus(number(size - 1), times(i, number(step))); });
  } else if (kind == 5 && n->low >= 1) {
    const Index extent = plus(times(minus(n, number(1)), number(g)), number(1));
    change(extent, [&](const Index& i) { return combine(IndexKind::CeilDiv, i, number(g)); });
  } else if (n->low >= 1) {
    const int64_t shift = random.range(-40, 40);
    change(n, [&](const Index& i) { return mod(plus(i, number(shift)), n); });
  }
  return made;
}

// Two dims become one, or one two.
Made reshaped(Builder& builder, const Shape& source) {
  Random& random = builder.random();
  Made made{.shape = {}, .map = {}};
  const auto d = static_cast<size_t>(random.range(0, static_cast<int64_t>(source.size()) - 1));
  const int a = static_cast<int>(d);
  const bool merges = d + 1 < source.size() && source[d + 1]->low >= 1 && random.chance(0.6);
  const auto size = static_cast<int64_t>(source[d]->low);
  const int64_t factor = random.range(2, 4);
  const bool splits = !merges && is_fixed(source[d]) && size > 0 && size % factor == 0;
  if (!merges && !splits) return one_changed(builder, source);
  for (size_t k = 0; k < source.size(); ++k) {
    const int shift = k <= d ? 0 : merges ? -1 : 1;
    if (merges && k == d + 1) continue;
    if (k != d) {
      made.shape.push_back(source[k]);
      made.map.push_back(axis(static_cast<int>(k) + shift, source[k]));
    } else if (merges) {
      made.shape.push_back(times(source[d], source[d + 1]));
      const Index i = axis(a, made.shape.back());
      made.map.push_back(floor_div(i, source[d + 1]));
      made.map.push_back(mod(i, source[d + 1]));
    } else {
      made.shape.push_back(number(size / factor));
      made.shape.push_back(number(factor));
      made.map.push_back(
          plus(times(axis(a, made.shape[d]), number(factor)), axis(a + 1, made.shape[d + 1])));
    }
  }
  return made;
}

// A dim more: repeated, or windows of a fixed one.
Made more_dims(Builder& builder, const Shape& source) {
  Random& random = builder.random();
  Made made{.shape = source, .map = axes(source)};
  const auto rank = static_cast<int>(source.size());
  if (rank > 0 && random.chance(0.5) && is_fixed(source.back()) && source.back()->low >= 2) {
    const auto size = static_cast<int64_t>(source.back()->low);
    const int64_t window = random.range(1, std::min<int64_t>(size, 4));
    made.shape.back() = number(size - window + 1);
    made.shape.push_back(number(window));
    made.map.back() =
        plus(axis(rank - 1, made.shape[made.shape.size() - 2]), axis(rank, made.shape.back()));
    return made;
  }
  const int64_t place = random.range(0, rank);
  made.shape.insert(made.shape.begin() + place, number(random.pick({0, 1, 2, 3, 5, 16, 17})));
  for (int64_t k = place; k < rank; ++k) {
    made.map[static_cast<size_t>(k)] =
        axis(static_cast<int>(k) + 1, source[static_cast<size_t>(k)]);
  }
  return made;
}

// Dims of its own, and any map into the source.
Made arbitrary(Builder& builder, const Shape& source) {
  Random& random = builder.random();
  Made made;
  const int64_t rank = random.range(1, 3);
  for (int64_t k = 0; k < rank; ++k) {
    const bool known = !source.empty() && random.chance(0.4);
    made.shape.push_back(known ? random.pick(source)
                               : number(random.pick({1, 2, 3, 4, 7, 8, 15, 16, 17, 33})));
  }
  for (const Index& n : source) {
    if (n->low < 1) return {};
    made.map.push_back(within(builder, made.shape, n));
  }
  return made;
}

}  // namespace

Index random_index(Builder& builder, const Shape& shape, int depth) {
  if (depth <= 0) return leaf_index(builder, shape);
  for (int trial = 0; trial < 8; ++trial) {
    const Index made = builder.random().chance(0.05) ? wide_index(builder, shape)
                                                     : combined(builder, shape, depth);
    if (is_safe(made)) return made;
  }
  return leaf_index(builder, shape);
}

std::optional<int> random_view(Builder& builder, int x, int64_t most_elements) {
  const Shape source = builder.shape(x);
  Random& random = builder.random();
  Made made;
  if (source.empty()) {
    made = more_dims(builder, source);
  } else {
    const double which = random.uniform();
    made = which < 0.15   ? permuted(builder, source)
           : which < 0.35 ? one_changed(builder, source)
           : which < 0.5  ? reshaped(builder, source)
           : which < 0.6  ? more_dims(builder, source)
                          : arbitrary(builder, source);
  }
  if (made.map.size() != source.size() || !builder.fits(made.shape, most_elements)) return {};
  return builder.view(x, made.shape, made.map);
}

}  // namespace luminal::tests::foreign

#include "tests/foreign/blocks.h"

#include <cmath>
#include <limits>

namespace luminal::tests::foreign {
namespace {

constexpr int64_t kMostTerms = 30000;

// Stored as [a, b] or as [b, a], shown as `shape` with these two at places `at_a` and `at_b`.
int stored_either_way(Builder& builder, const Index& a, const Index& b, const Shape& shape,
                      int at_a, int at_b, DType stored, DType shown, Leaf leaf) {
  const bool turned = builder.random().chance(0.5);
  const int x = builder.cast(
      builder.operand(turned ? Shape{b, a} : Shape{a, b}, stored, std::move(leaf)), shown);
  const Index first = axis(at_a, a), second = axis(at_b, b);
  return builder.view(x, shape, turned ? Shape{second, first} : Shape{first, second});
}

struct Types {
  DType left, right, computed;
};
Types product_types(Random& random) {
  const DType half = random.chance(0.5) ? DType::BF16 : DType::F16;
  const double which = random.uniform();
  if (which < 0.35) return {DType::F32, DType::F32, DType::F32};
  if (which < 0.5) return {half, half, DType::F32};
  if (which < 0.58) return {DType::F32, half, DType::F32};
  if (which < 0.65) return {half, half, half};
  if (which < 0.72) return {DType::F64, DType::F64, DType::F64};
  if (which < 0.84) {
    const DType left = random.chance(0.5) ? DType::I8 : DType::U8;
    return {left, DType::I8, DType::I32};
  }
  const DType whole = random.pick({DType::I8, DType::I16, DType::I32, DType::I64, DType::U8});
  return {whole, whole, whole};
}

Values operand_values(Random& random) {
  return random.chance(0.3) ? Values::Whole : random.chance(0.15) ? Values::Wide : Values::Plain;
}

// What often follows a product.
int epilogue(Builder& builder, int x) {
  Random& random = builder.random();
  const DType dtype = builder.dtype(x);
  const Shape& shape = builder.shape(x);
  if (random.chance(0.4) && !shape.empty()) {
    const Index n = shape.back();
    const int bias = builder.operand({n}, dtype);
    const auto last = static_cast<int>(shape.size()) - 1;
    x = builder.binary(Op::Add, x, builder.view(bias, builder.shape(x), {axis(last, n)}));
  }
  if (random.chance(0.3)) {
    const int zero = builder.full(builder.shape(x), dtype, 0);
    x = builder.select(builder.binary(Op::LessThan, x, zero), zero, x);
  }
  if (is_float(dtype) && random.chance(0.2)) x = builder.cast(x, random_float(random));
  return x;
}

// Weights of the last axis that add up to 1.
int softmax(Builder& builder, int x) {
  const Index n = builder.shape(x).back();
  const int greatest = builder.repeat_last(builder.reduce(x, Reducer::Max), n);
  const int shifted = builder.add_times(x, greatest, -1);
  const int scaled = builder.binary(
      Op::Mul, shifted, builder.full(builder.shape(x), builder.dtype(x), 1.4426950408889634));
  const int e = builder.unary(Op::Exp2, scaled);
  const int total =
      builder.repeat_last(builder.unary(Op::Recip, builder.reduce(e, Reducer::Sum)), n);
  return builder.binary(Op::Mul, e, total);
}

// Rows of new keys written into a state.
int cached(Builder& builder, int64_t heads, int64_t keys, int64_t size, DType dtype) {
  Random& random = builder.random();
  const int state = builder.leaf({number(keys), number(heads), number(size)}, dtype,
                                 {.values = Values::Plain}, Role::State);
  const Index rows = number(random.range(1, 3));
  const int at = builder.leaf({rows}, random.chance(0.5) ? DType::I64 : DType::I32,
                              {.values = Values::Rows, .rows = number(keys)});
  const int fresh = builder.leaf({rows, number(heads), number(size)}, dtype);
  const int updated = builder.scatter(state, at, fresh, std::nullopt);
  builder.program().updates.emplace_back(state, updated);
  return updated;
}

}  // namespace

Index random_dim(Builder& builder, std::initializer_list<int> sizes) {
  Random& random = builder.random();
  const Program& program = builder.program();
  for (size_t k = 0; k < program.variables.size(); ++k) {
    const Variable& v = program.variables[k];
    if (v.name != "h" && random.chance(0.3)) {
      return variable(static_cast<int>(k), v.name, v.low, v.high);
    }
  }
  return number(random.pick(sizes));
}

DType random_float(Random& random) {
  return random.pick({DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64});
}

int random_product(Builder& builder) {
  Random& random = builder.random();
  const Types types = product_types(random);
  const Index m = random_dim(builder, {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33});
  const Index n = random_dim(builder, {1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33});
  const Index k = random_dim(builder, {0, 1, 3, 4, 8, 15, 16, 17, 32, 33, 64});
  const bool batched = random.chance(0.3);
  const Index batch = number(random.range(1, 3));
  const int first = batched ? 1 : 0;
  Shape shape = batched ? Shape{batch, m, n, k} : Shape{m, n, k};
  if (!builder.fits(shape, kMostTerms)) shape[shape.size() - 3] = number(2);
  if (!builder.fits(shape, kMostTerms)) shape[shape.size() - 2] = number(3);
  const Index rows = shape[shape.size() - 3], columns = shape[shape.size() - 2];
  const Leaf values{.values = operand_values(random)};
  int a = 0, b = 0;
  if (batched) {
    const int x =
        builder.cast(builder.operand({batch, rows, k}, types.left, values), types.computed);
    a = builder.view(x, shape, {axis(0, batch), axis(1, rows), axis(3, k)});
  } else {
    a = stored_either_way(builder, rows, k, shape, first, first + 2, types.left, types.computed,
                          values);
  }
  b = stored_either_way(builder, k, columns, shape, first + 2, first + 1, types.right,
                        types.computed, values);
  return epilogue(builder, builder.reduce(builder.binary(Op::Mul, a, b), Reducer::Sum));
}

int random_attention(Builder& builder) {
  Random& random = builder.random();
  builder.program().loose_infinities = true;
  const int64_t groups = random.range(1, 8), heads = random.range(1, groups > 4 ? 2 : 3);
  int64_t size = random.pick({1, 2, 4, 8, 12, 16, 17});
  const DType stored = random.chance(0.6) ? DType::F32 : random.pick({DType::F16, DType::BF16});
  Index rows = random.chance(0.2) ? random_dim(builder, {1, 4}) : number(random.range(1, 9));
  Index keys = random_dim(builder, {1, 2, 3, 8, 15, 16, 17, 33, 40});
  const Index all = number(heads * groups);
  if (!builder.fits({all, rows, keys, number(size)}, kMostTerms)) size = 4;
  if (!builder.fits({all, rows, keys, number(size)}, kMostTerms)) rows = number(2);
  if (!builder.fits({all, rows, keys, number(size)}, kMostTerms)) keys = number(5);
  const Index d = number(size);
  const bool by_key = random.chance(0.5);  // keys lie as [key, head, size]
  const bool has_cache = keys->kind == IndexKind::Number && by_key && random.chance(0.4);
  const Shape lying = by_key ? Shape{keys, number(heads), d} : Shape{number(heads), keys, d};
  auto shared = [&] {
    return has_cache ? cached(builder, heads, keys->number, size, stored)
                     : builder.operand(lying, stored);
  };
  const int q = builder.cast(builder.leaf({all, rows, d}, stored), DType::F32);
  const int k = builder.cast(shared(), DType::F32), v = builder.cast(shared(), DType::F32);
  const Index head = floor_div(axis(0, all), number(groups));
  auto show = [&](int x, const Shape& shape, int key, int element) {
    const Index at = axis(key, keys), e = axis(element, d);
    return builder.view(x, shape, by_key ? Shape{at, head, e} : Shape{head, at, e});
  };
  const Shape by_size{all, rows, keys, d};
  int scores =
      builder.binary(Op::Mul, builder.view(q, by_size, {axis(0, all), axis(1, rows), axis(3, d)}),
                     show(k, by_size, 2, 3));
  scores = builder.reduce(scores, Reducer::Sum);
  const bool weighs = random.chance(0.75);
  if (weighs || random.chance(0.5)) {
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    scores =
        builder.binary(Op::Mul, scores, builder.full(builder.shape(scores), DType::F32, scale));
  }
  if (random.chance(0.5)) {
    const Shape shape = builder.shape(scores);
    const Index sees = combine(IndexKind::LessEqual, axis(2, keys),
                               plus(axis(1, rows), number(random.range(0, 20))));
    const double hidden = !weighs ? 0
                          : builder.program().numerics >= Numerics::Finite
                              ? -1e30
                              : -std::numeric_limits<double>::infinity();
    scores = builder.select(builder.iota(shape, DType::Bool, sees), scores,
                            builder.full(shape, DType::F32, hidden));
  }
  const int weights = weighs ? softmax(builder, scores) : scores;
  const Shape by_key_last{all, rows, d, keys};
  const int terms = builder.binary(
      Op::Mul, builder.view(weights, by_key_last, {axis(0, all), axis(1, rows), axis(3, keys)}),
      show(v, by_key_last, 3, 2));
  const int result = builder.reduce(terms, Reducer::Sum);
  builder.edit(result).room = weighs ? 300 : 0;
  return builder.cast(result, stored);
}

int random_quantised(Builder& builder) {
  Random& random = builder.random();
  builder.program().loose_infinities = true;
  const DType quants = random.pick({DType::U4, DType::U4, DType::I8, DType::U8});
  const DType scales = random.pick({DType::F32, DType::F16, DType::BF16});
  const int64_t block = random.pick({2, 4, 8, 16, 32}), k = block * random.range(1, 64 / block);
  const Index m = random_dim(builder, {1, 2, 3, 4, 5, 8, 9, 12});
  const Index n = number(random.pick({1, 3, 4, 8, 15, 16, 17, 32, 33}));
  const Index length = number(k), blocks = number(k / block);
  const Shape plane{n, length};
  auto for_each = [&](int x) {
    return builder.view(builder.cast(x, DType::F32), plane,
                        {axis(0, n), floor_div(axis(1, length), number(block))});
  };
  int weights = builder.cast(builder.leaf(plane, quants, {}, Role::Weight), DType::F32);
  const double largest = quants == DType::U4 ? 32 : 300;
  if (random.chance(0.5)) {
    weights = builder.binary(Op::Add, weights,
                             builder.full(plane, DType::F32, quants == DType::U4 ? -8 : -3));
  }
  const int slope =
      for_each(builder.leaf({n, blocks}, scales, {.values = Values::Weights}, Role::Weight));
  weights = builder.binary(Op::Mul, weights, slope);
  const int offset =
      random.chance(0.4) ? for_each(builder.leaf({n, blocks}, scales, {}, Role::Weight)) : -1;
  if (offset >= 0) weights = builder.binary(Op::Add, weights, offset);
  const Shape shape{m, n, length};
  const Index i = axis(0, m), j = axis(1, n), l = axis(2, length);
  const int x = builder.leaf({m, length}, DType::F32);
  const int product =
      builder.binary(Op::Mul, builder.view(x, shape, {i, l}), builder.view(weights, shape, {j, l}));

  // Slopes and offsets are multiplied by sums: errors are of the size of Σ (|slope · q| + |offset|)
  // · max |x|.
  auto shadowed = [&](int step, bool magnitude) {
    builder.edit(step).shadow = true;
    builder.edit(step).magnitude = magnitude;
    return step;
  };
  auto constant = [&](const Shape& of, double value) {
    const int scalar = shadowed(builder.constant(DType::F32, value), false);
    return shadowed(builder.view(scalar, of, {}), false);
  };
  int size = shadowed(builder.binary(Op::Mul, slope, constant(plane, largest)), true);
  if (offset >= 0) {
    const int more = shadowed(builder.binary(Op::Mul, offset, constant(plane, 1)), true);
    size = shadowed(builder.binary(Op::Add, size, more), false);
  }
  const int heights = shadowed(builder.binary(Op::Mul, x, constant({m, length}, 1)), true);
  const int height = shadowed(builder.reduce(heights, Reducer::Max), false);
  const int terms =
      shadowed(builder.binary(Op::Mul, shadowed(builder.view(size, shape, {j, l}), false),
                              shadowed(builder.view(height, shape, {i}), false)),
               true);
  const int bound = shadowed(builder.reduce(terms, Reducer::Sum), false);
  const int result = builder.reduce(product, Reducer::Sum);
  builder.edit(result).room = static_cast<double>(k) + 16;
  builder.edit(result).room_of = bound;
  return epilogue(builder, result);
}

int random_convolution(Builder& builder) {
  Random& random = builder.random();
  const int64_t channels = random.range(1, 4), taps = random.range(1, 4), step = random.range(1, 2);
  const int64_t places = random.pick({1, 3, 8, 15, 16, 17});
  const Index out = number(random.pick({1, 3, 4, 8, 17})), place = number(places);
  const Index c = number(channels), t = number(taps);
  const bool pads = random.chance(0.5);
  const int64_t length = (places - 1) * step + taps - (pads ? 2 : 0);
  if (length < 1) return random_norm(builder);
  const DType dtype = random.pick({DType::F32, DType::F32, DType::BF16, DType::I8, DType::I32});
  const DType computed = dtype == DType::BF16 ? DType::F32
                         : dtype == DType::I8 ? DType::I32
                                              : dtype;
  const Index l = number(length);
  const int x = builder.cast(builder.operand({c, l}, dtype), computed);
  const int w = builder.cast(builder.operand({out, c, t}, dtype), computed);
  const bool merged = random.chance(0.5);
  const Index both = number(channels * taps);
  const Shape shape = merged ? Shape{out, place, both} : Shape{out, place, c, t};
  const Index channel = merged ? floor_div(axis(2, both), t) : axis(2, c);
  const Index tap = merged ? mod(axis(2, both), t) : axis(3, t);
  const Index from = plus(times(axis(1, place), number(step)), tap);
  int window = 0;
  if (pads) {
    const Index at = minus(from, number(1));
    window = builder.view(x, shape, {channel, min(max(at, number(0)), number(length - 1))});
    const Index inside = combine(IndexKind::And, combine(IndexKind::GreaterEqual, at, number(0)),
                                 combine(IndexKind::Less, at, l));
    window = builder.select(builder.iota(shape, DType::Bool, inside), window,
                            builder.full(shape, computed, 0));
  } else {
    window = builder.view(x, shape, {channel, from});
  }
  const int taken = builder.view(w, shape, {axis(0, out), channel, tap});
  int result = builder.reduce(builder.binary(Op::Mul, window, taken), Reducer::Sum);
  if (!merged) result = builder.reduce(result, Reducer::Sum);
  return epilogue(builder, result);
}

int random_norm(Builder& builder) {
  Random& random = builder.random();
  const Index n = number(random.pick({1, 2, 3, 8, 15, 16, 17, 33, 64}));
  const Shape shape{random_dim(builder, {1, 2, 5, 16}), n};
  const DType stored = random.pick({DType::F32, DType::F16, DType::BF16, DType::F64});
  const DType computed = stored == DType::F64 ? DType::F64 : DType::F32;
  int x = builder.cast(builder.operand(shape, stored), computed);
  if (random.chance(0.35)) return builder.cast(softmax(builder, x), stored);
  auto mean = [&](int of) {
    const int sum = builder.reduce(of, Reducer::Sum);
    const double share = 1.0 / static_cast<double>(n->number);
    return builder.binary(Op::Mul, sum, builder.full(builder.shape(sum), computed, share));
  };
  if (random.chance(0.5)) x = builder.add_times(x, builder.repeat_last(mean(x), n), -1);
  const int square = mean(builder.binary(Op::Mul, x, x));
  const int size =
      builder.binary(Op::Add, square, builder.full(builder.shape(square), computed, 1e-5));
  const int factor = builder.unary(Op::Recip, builder.unary(Op::Sqrt, size));
  int y = builder.binary(Op::Mul, x, builder.repeat_last(factor, n));
  const int gain = builder.cast(builder.operand({n}, stored), computed);
  y = builder.binary(Op::Mul, y, builder.view(gain, shape, {axis(1, n)}));
  return builder.cast(y, stored);
}

int random_layers(Builder& builder) {
  Random& random = builder.random();
  const Index n = number(random.pick({4, 8, 16})), m = random_dim(builder, {1, 2, 5});
  const DType stored = random.pick({DType::F32, DType::BF16});
  const Shape shape{m, n}, products{m, n, n};
  int x = builder.leaf(shape, DType::F32);
  for (int64_t layers = random.range(2, 5); layers > 0; --layers) {
    const int w = builder.cast(builder.leaf({n, n}, stored, {}, Role::Weight), DType::F32);
    const int a = builder.view(x, products, {axis(0, m), axis(2, n)});
    const int b = builder.view(w, products, {axis(1, n), axis(2, n)});
    const int y = builder.reduce(builder.binary(Op::Mul, a, b), Reducer::Sum);
    const int zero = builder.full(shape, DType::F32, 0);
    const int kept = builder.select(builder.binary(Op::LessThan, y, zero), zero, y);
    x = builder.add_times(x, kept, 0.125);
  }
  return x;
}

}  // namespace luminal::tests::foreign

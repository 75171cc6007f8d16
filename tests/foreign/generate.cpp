#include "tests/foreign/generate.h"

#include <algorithm>
#include <set>

#include "tests/foreign/blocks.h"
#include "tests/foreign/builder.h"
#include "tests/foreign/leaf_data.h"
#include "tests/foreign/maps.h"

namespace luminal::tests::foreign {
namespace {

constexpr int64_t kMostElements = 1500;

DType random_dtype(Random& random) {
  const double which = random.uniform();
  if (which < 0.3) return DType::F32;
  if (which < 0.5) return random.pick({DType::F16, DType::BF16});
  if (which < 0.6) return DType::F64;
  if (which < 0.92) {
    return random.pick({DType::I8, DType::I16, DType::I32, DType::I32, DType::I64, DType::U8});
  }
  return DType::Bool;
}

std::vector<DType> same_width(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return {DType::I64};
    case DType::I64:
      return {DType::F64};
    case DType::F32:
      return {DType::I32};
    case DType::I32:
      return {DType::F32};
    case DType::F16:
      return {DType::BF16, DType::I16};
    case DType::BF16:
      return {DType::F16, DType::I16};
    case DType::I16:
      return {DType::F16, DType::BF16};
    case DType::I8:
      return {DType::U8};
    case DType::U8:
      return {DType::I8};
    case DType::Bool:
    case DType::U4:
      return {};
  }
  return {};
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed), builder_(program_, random_) {}

  Program make() {
    settings();
    variables();
    theme();
    finish();
    add_leaf_data(program_, random_);
    return std::move(program_);
  }

 private:
  void settings() {
    const double fusion = random_.uniform();
    program_.fusion = fusion < 0.5   ? FusionPolicy::Modelled
                      : fusion < 0.8 ? FusionPolicy::Always
                                     : FusionPolicy::Never;
    const double numerics = random_.uniform();
    program_.numerics = numerics < 0.2    ? Numerics::Exact
                        : numerics < 0.88 ? Numerics::Reassociating
                        : numerics < 0.96 ? Numerics::Finite
                                          : Numerics::Approximate;
    program_.rolling = random_.pick({Rolling::Auto, Rolling::Auto, Rolling::Off, Rolling::Always});
    program_.threads = random_.pick({1, 1, 1, 2, 4});
  }

  void variables() {
    if (random_.chance(0.45)) add_variable("s");
    if (!program_.variables.empty() && random_.chance(0.2)) add_variable("t");
    // No dim, but a number of any size within index expressions.
    if (random_.chance(0.15)) {
      program_.variables.push_back({"h", random_.range(0, 1), (1LL << 31) - 1});
    }
    const int64_t runs = program_.variables.empty() ? random_.range(1, 2) : random_.range(2, 3);
    for (int64_t r = 0; r < runs; ++r) {
      ProgramRun& run = program_.runs.emplace_back();
      for (const Variable& v : program_.variables) {
        const int64_t size =
            v.name == "h"
                ? random_.pick({int64_t{1}, int64_t{1000003}, int64_t{2147483639}, v.high})
                : random_.pick({0, 1, 1, 2, 3, 7, 15, 16, 17});
        run.variables.push_back(std::clamp(size, v.low, v.high));
      }
    }
  }

  void add_variable(const char* name) {
    const int64_t low = random_.pick({0, 0, 1, 1, 1, 2});
    const int64_t high =
        random_.pick({int64_t{1}, int64_t{17}, int64_t{64}, int64_t{4096}, (int64_t{1} << 31) - 1});
    program_.variables.push_back({name, low, std::max(low, high)});
  }

  void theme() {
    const double which = random_.uniform();
    int64_t more = random_.range(2, 6);
    if (which < 0.13) {
      pool_.push_back(random_attention(builder_));
    } else if (which < 0.26) {
      pool_.push_back(random_product(builder_));
    } else if (which < 0.33) {
      pool_.push_back(random_quantised(builder_));
    } else if (which < 0.38) {
      pool_.push_back(random_convolution(builder_));
    } else if (which < 0.45) {
      pool_.push_back(random_norm(builder_));
    } else if (which < 0.49) {
      pool_.push_back(random_layers(builder_));
    } else if (which < 0.60) {
      for (int64_t k = random_.range(2, 5); k > 0; --k) index_step();
      more = random_.range(1, 5);
    } else {
      special_ = random_.chance(0.25) ? Values::Special : Values::Plain;
      more = random_.range(5, 14);
    }
    if (pool_.empty()) pool_.push_back(fresh(random_shape(), random_dtype(random_)));
    while (more-- > 0) step();
  }

  Values leaf_values() {
    if (special_ == Values::Special) return random_.chance(0.7) ? Values::Special : Values::Plain;
    return random_.pick({Values::Plain, Values::Plain, Values::Whole, Values::Wide});
  }
  int fresh(const Shape& shape, DType dtype) {
    return builder_.operand(shape, dtype, {.values = leaf_values()});
  }

  Shape random_shape() {
    for (int trial = 0; trial < 20; ++trial) {
      Shape shape;
      for (int64_t rank = random_.range(0, 3); rank >= 0; --rank) {
        shape.push_back(random_dim(builder_, {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}));
      }
      if (builder_.fits(shape, kMostElements)) return shape;
    }
    return {number(3)};
  }

  int any() { return random_.pick(pool_); }
  template <typename F>
  int any_where(const F& wanted) {
    for (int trial = 0; trial < 12; ++trial) {
      const int x = any();
      if (wanted(x)) return x;
    }
    return -1;
  }
  void keep(int x) { pool_.push_back(x); }

  // Another operand for x: a tensor of its shape and dtype, a constant, a row that repeats, x.
  int partner(int x) {
    const DType dtype = builder_.dtype(x);
    const Shape& shape = builder_.shape(x);
    if (random_.chance(0.5)) {
      const int found = any_where([&](int y) {
        return y != x && builder_.dtype(y) == dtype && same(builder_.shape(y), shape);
      });
      if (found >= 0) return found;
    }
    const double which = random_.uniform();
    if (which < 0.25) {
      const double value = is_float(dtype) ? random_.pick({0.5, -1.0, 3.0, 0.0, 1.0, -0.0, 0.1})
                           : dtype == DType::Bool || dtype == DType::U8
                               ? random_.pick({0.0, 1.0})
                               : random_.pick({0.0, 1.0, -1.0, 2.0, 3.0, -7.0});
      return builder_.full(shape, dtype, value);
    }
    if (which < 0.45 && !shape.empty()) {
      const auto d = static_cast<size_t>(random_.range(0, static_cast<int64_t>(shape.size()) - 1));
      const Index extent = shape[d];
      const Shape whole = shape;
      return builder_.view(fresh({extent}, dtype), whole, {axis(static_cast<int>(d), extent)});
    }
    if (which < 0.55) return x;
    return fresh(Shape(shape), dtype);
  }

  void step() {
    const double which = random_.uniform();
    if (which < 0.12) return unary();
    if (which < 0.32) return arithmetic();
    if (which < 0.42) return choice();
    if (which < 0.50) return convert();
    if (which < 0.66) return moved();
    if (which < 0.76) return reduced();
    if (which < 0.83) return scanned();
    if (which < 0.88) return gathered();
    if (which < 0.93) return scattered();
    if (which < 0.96) return remembered();
    index_step();
  }

  void unary() {
    const int x = any_where([&](int y) { return is_float(builder_.dtype(y)); });
    if (x < 0) return arithmetic();
    keep(builder_.unary(random_.pick({Op::Exp2, Op::Log2, Op::Sin, Op::Sin, Op::Recip, Op::Sqrt}),
                        x));
  }

  void arithmetic() {
    const int x = any();
    const DType dtype = builder_.dtype(x);
    const Op op = is_float(dtype) ? random_.pick({Op::Add, Op::Add, Op::Mul, Op::Mul, Op::Mod})
                  : dtype == DType::Bool
                      ? random_.pick({Op::Add, Op::Mul})
                      : random_.pick({Op::Add, Op::Mul, Op::Mod, Op::IntDiv, Op::BitAnd});
    const int y = partner(x);
    keep(random_.chance(0.5) ? builder_.binary(op, x, y) : builder_.binary(op, y, x));
  }

  void choice() {
    const int x = any();
    const int y = partner(x);
    const int which = builder_.binary(random_.pick({Op::LessThan, Op::LessThan, Op::Equal}), x, y);
    if (random_.chance(0.4)) return keep(which);
    const int other = random_.chance(0.5) ? y : partner(x);
    keep(builder_.select(which, x, other));
  }

  void convert() {
    const int x = any();
    const std::vector<DType> wide = same_width(builder_.dtype(x));
    if (random_.chance(0.25) && !wide.empty()) {
      return keep(builder_.bitcast(x, random_.pick(wide)));
    }
    const DType to = random_dtype(random_);
    if (to != builder_.dtype(x)) keep(builder_.cast(x, to));
  }

  void moved() {
    if (const std::optional<int> view = random_view(builder_, any(), kMostElements)) keep(*view);
    if (random_.chance(0.05))
      builder_.edit(pool_.back()).materialized = can_be_stored(pool_.back());
  }
  bool can_be_stored(int x) const { return builder_.step(x).op != Op::Input; }

  Reducer random_reducer() {
    return random_.pick({Reducer::Sum, Reducer::Sum, Reducer::Max, Reducer::Max, Reducer::Prod});
  }

  void reduced() {
    const int x = any_where([&](int y) { return !builder_.shape(y).empty(); });
    if (x >= 0) keep(builder_.reduce(x, random_reducer()));
  }

  // Along a dim of any size: the last, or one that a view makes the last.
  void scanned() {
    int x = any_where([&](int y) { return !builder_.shape(y).empty(); });
    if (x < 0) x = fresh(random_shape(), random_dtype(random_));
    const int scan = builder_.scan(x, random_reducer());
    keep(scan);
    if (random_.chance(0.5)) keep(builder_.binary(Op::Equal, scan, partner(scan)));
  }

  int rows_leaf(const Index& rows, bool outside) {
    Shape shape;
    for (int64_t rank = random_.range(1, 2); rank > 0; --rank) {
      shape.push_back(random_dim(builder_, {0, 1, 2, 3, 5, 8}));
    }
    if (!builder_.fits(shape, 40)) shape = {number(3)};
    return builder_.leaf(shape, random_.pick({DType::I64, DType::I32}),
                         {.values = Values::Rows, .rows = rows, .outside = outside});
  }

  void gathered() {
    const int x = any_where(
        [&](int y) { return !builder_.shape(y).empty() && builder_.shape(y)[0]->low >= 1; });
    if (x < 0) return;
    const int index = rows_leaf(builder_.shape(x)[0], false);
    Shape result = builder_.shape(index);
    result.insert(result.end(), builder_.shape(x).begin() + 1, builder_.shape(x).end());
    if (builder_.fits(result, kMostElements)) keep(builder_.gather(x, index));
  }

  void scattered() {
    const int x = any_where(
        [&](int y) { return !builder_.shape(y).empty() && builder_.shape(y)[0]->low >= 1; });
    if (x < 0) return;
    const bool outside = random_.chance(0.25);
    const int index = rows_leaf(builder_.shape(x)[0], outside);
    Shape values = builder_.shape(index);
    values.insert(values.end(), builder_.shape(x).begin() + 1, builder_.shape(x).end());
    if (!builder_.fits(values, kMostElements)) return;
    std::optional<Reducer> reducer;
    if (random_.chance(0.6)) reducer = random_.pick({Reducer::Sum, Reducer::Prod, Reducer::Max});
    program_.has_strays |= outside;
    keep(builder_.scatter(x, index, fresh(values, builder_.dtype(x)), reducer));
  }

  // A state of a fixed size, and what becomes of it.
  void remembered() {
    const int x = any_where([&](int y) {
      return std::ranges::all_of(builder_.shape(y),
                                 [](const Index& d) { return d->low == d->high; });
    });
    if (x < 0 || builder_.step(x).op == Op::Input) return;
    const int state = builder_.leaf(Shape(builder_.shape(x)), builder_.dtype(x),
                                    {.values = leaf_values()}, Role::State);
    const int value = builder_.binary(Op::Add, state, x);
    program_.updates.emplace_back(state, random_.chance(0.7) ? value : x);
    keep(value);
  }

  void index_step() {
    const Shape shape = random_shape();
    const Index expr = random_index(builder_, shape, static_cast<int>(random_.range(1, 4)));
    const DType dtype = random_.chance(0.5) ? DType::I64 : random_dtype(random_);
    keep(builder_.iota(shape, dtype, expr));
    if (random_.chance(0.5)) moved();
  }

  // What nothing reads is an output, and a few others.
  void finish() {
    std::set<int> read;
    for (const Step& step : program_.steps) {
      if (!step.shadow) read.insert(step.inputs.begin(), step.inputs.end());
    }
    std::vector<int> outputs;
    for (int x : pool_) {
      const bool leaf = builder_.step(x).op == Op::Input;
      const bool taken = std::ranges::find(outputs, x) != outputs.end();
      if (leaf || taken || builder_.dtype(x) == DType::U4) continue;
      if (!read.contains(x) || random_.chance(0.15)) outputs.push_back(x);
    }
    if (outputs.empty()) {
      const int x = any();
      outputs.push_back(builder_.binary(Op::Add, x, x));
    }
    if (outputs.size() > 5) outputs.erase(outputs.begin(), outputs.end() - 5);
    program_.outputs = std::move(outputs);
  }

  Program program_;
  Random random_;
  Builder builder_;
  std::vector<int> pool_;
  Values special_ = Values::Plain;
};

}  // namespace

Program generate(uint64_t seed) { return Generator(seed).make(); }

}  // namespace luminal::tests::foreign

// The bounds are tight enough to see small mistakes, and hold for what is right.
#include "tests/support/bounded_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "luminal/graph/primitives.h"
#include "luminal/shape/scalar.h"
#include "tests/support/float_bounds.h"
#include "tests/support/random_graph.h"

namespace luminal::tests {
namespace {

constexpr int64_t kRows = 4, kColumns = 9;

struct Example {
  Graph graph;
  Tensor result;
  std::vector<TensorData> data;

  explicit Example(DType dtype, const std::function<Tensor(const Tensor&, const Tensor&)>& build) {
    const Tensor x = graph.input("x", {kRows, kColumns}, dtype);
    const Tensor y = graph.input("y", {kRows, kColumns}, dtype);
    result = build(x, y).output("result");
    RandomSource random(11);
    for (int k = 0; k < 2; ++k) {
      TensorData::Writable values = TensorData::zeros(dtype, {kRows, kColumns});
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        store_float(dtype, values.bytes.data(), i, round_to(dtype, 0.5 + random.uniform()));
      }
      data.push_back(values.data);
    }
  }

  interpret::LeafData leaves() const {
    return [this](NodeId id) { return data[id == graph.leaves()[0] ? 0 : 1]; };
  }
  BoundedTensor bounds() const {
    const NodeId id = result.id();
    return bounded_values(graph, {}, leaves(), {&id, 1})[0];
  }
  TensorData right() const {
    const NodeId id = result.id();
    return interpret::Interpreter(graph, {}, leaves()).values({&id, 1})[0];
  }
  // The right values, the last element `ulps` units further from zero.
  TensorData wrong(double ulps) const {
    const TensorData data_right = right();
    TensorData::Writable copy = TensorData::zeros(data_right.dtype, data_right.dims);
    std::copy(data_right.bytes.begin(), data_right.bytes.end(), copy.bytes.begin());
    const int64_t last = data_right.n_elements() - 1;
    const double value = load_float(data_right.dtype, copy.bytes.data(), last);
    const double off = ulps * ulp_of(data_right.dtype, value);
    store_float(data_right.dtype, copy.bytes.data(), last,
                round_to(data_right.dtype, value + std::copysign(off, value)));
    return copy.data;
  }
};

TEST(BoundedValues, SeeTwoUnitsInTheLastPlaceOfAShortGraph) {
  const std::pair<const char*, std::function<Tensor(const Tensor&, const Tensor&)>> kGraphs[] = {
      {"add", [](const Tensor& x, const Tensor& y) { return prim::add(x, y); }},
      {"mul", [](const Tensor& x, const Tensor& y) { return prim::mul(x, y); }},
      {"mod", [](const Tensor& x, const Tensor& y) { return prim::mod(x, y); }},
      {"recip", [](const Tensor& x, const Tensor&) { return prim::recip(x); }},
      {"sqrt", [](const Tensor& x, const Tensor&) { return prim::sqrt(x); }},
      {"max", [](const Tensor& x, const Tensor&) { return prim::reduce(x, Reducer::Max); }},
      {"view", [](const Tensor& x, const Tensor&) { return x.t(); }},
      {"two", [](const Tensor& x, const Tensor& y) { return prim::recip(prim::add(x, y)); }},
  };
  for (const auto& [what, build] : kGraphs) {
    for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
      const Example example(dtype, build);
      EXPECT_FALSE(outside(example.bounds(), example.right())) << what << " " << name(dtype);
      EXPECT_TRUE(outside(example.bounds(), example.wrong(3))) << what << " " << name(dtype);
      if (dtype == DType::F32) {
        EXPECT_TRUE(outside(example.bounds(), example.wrong(2))) << what;
      }
    }
  }
}

TEST(BoundedValues, AllowFunctionsTheErrorTheyMayHave) {
  const Example example(DType::F32, [](const Tensor& x, const Tensor&) { return prim::exp2(x); });
  EXPECT_FALSE(outside(example.bounds(), example.wrong(1)));
  EXPECT_TRUE(outside(example.bounds(), example.wrong(4)));
}

TEST(BoundedValues, AreExactWhereNothingRounds) {
  // Sums and products of small whole numbers, in any order.
  for (Reducer reducer : {Reducer::Sum, Reducer::Prod}) {
    Example example(DType::F32, [&](const Tensor& x, const Tensor&) {
      return prim::reduce(prim::cast(prim::cast(x, DType::I32), DType::F32), reducer);
    });
    for (double error : example.bounds().errors) EXPECT_EQ(error, 0);
    EXPECT_TRUE(outside(example.bounds(), example.wrong(1)));
  }
}

TEST(BoundedValues, KnowNothingOfACloseComparison) {
  const Example close(DType::F32, [](const Tensor& x, const Tensor& y) {
    const Tensor sum = prim::add(x, y);
    return prim::less_than(prim::mul(sum, sum), prim::mul(prim::add(y, x), sum)).cast(DType::F32);
  });
  EXPECT_EQ(close.bounds().unknown(), close.bounds().size());
  const Example clear(DType::F32, [](const Tensor& x, const Tensor& y) {
    return prim::less_than(prim::recip(x), prim::add(prim::recip(x), y)).cast(DType::F32);
  });
  EXPECT_EQ(clear.bounds().unknown(), 0u);
}

TEST(BoundedValues, GrowWithTheChainAndStillSeeGrossMistakes) {
  const Example example(DType::BF16, [](const Tensor& x, const Tensor& y) {
    Tensor z = x;
    for (int k = 0; k < 10; ++k) z = prim::mul(prim::add(prim::sin(z), y), x);
    return z;
  });
  EXPECT_FALSE(outside(example.bounds(), example.right()));
  EXPECT_TRUE(outside(example.bounds(), example.wrong(128)));
}

}  // namespace
}  // namespace luminal::tests

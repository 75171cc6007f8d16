// Attention of few queries as two kernels: which kernels are split, and that both halves together
// mean what the whole does.
#include "luminal/kernel/recognise/forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "luminal/graph/primitives.h"
#include "luminal/kernel/ir/interpret_kernel.h"
#include "luminal/kernel/plan/strategy.h"
#include "luminal/luminal.h"
#include "luminal/shape/index/resolve_dims.h"
#include "tests/search/planned.h"

namespace luminal::kernel {
namespace {

using testing::SizeIs;

Kernel only_kernel(const Graph& graph) {
  const search::FoundPlan found = search::plan(graph, FusionPolicy::Always);
  EXPECT_THAT(found.plan.steps, SizeIs(1));
  return std::get<KernelStep>(found.plan.steps.front()).lowered.kernel;
}

struct Decode {
  int64_t heads = 4, kv_heads = 2, size = 8;
  Expr queries = 1;
  Expr room = 4200;  // of keys and values
  AttentionOptions options = {};
  bool with_mask = false;
};

Kernel only_kernel(Decode decode) {
  Graph graph;
  Tensor q = graph.input("q", {decode.heads, decode.queries, decode.size});
  Tensor k = graph.input("k", {decode.kv_heads, decode.room, decode.size});
  Tensor v = graph.input("v", {decode.kv_heads, decode.room, decode.size});
  if (decode.with_mask) decode.options.mask = graph.input("mask", {decode.queries, decode.room});
  scaled_dot_product_attention(q, k, v, decode.options).output("y");
  return only_kernel(graph);
}

using Values = std::vector<float>;

Values random_values(const Param& param, const Bindings& bindings, std::mt19937& random) {
  const ResolvedDims dims = *resolve_dims(param.dims, bindings);
  Values values(dims.bytes(DType::F32) / sizeof(float));
  std::normal_distribution<float> normal;
  for (float& value : values) value = normal(random);
  return values;
}

void interpret(const Kernel& kernel, const Bindings& bindings, std::vector<Values*> params) {
  std::vector<std::byte*> addresses;
  for (Values* values : params) addresses.push_back(reinterpret_cast<std::byte*>(values->data()));
  interpret_kernel(kernel, bindings, addresses);
}

void expect_same(const Kernel& kernel, const Bindings& bindings,
                 std::optional<int64_t> keys_of_range = {}) {
  ASSERT_GT(forms_of(kernel).keys_of_range, 0) << text(kernel);
  const std::optional<SplitSoftmax> split = split_into(kernel, keys_of_range);
  std::mt19937 random(5);
  std::vector<Values> data;
  for (const Param& param : kernel.params) data.push_back(random_values(param, bindings, random));
  std::vector<Values*> whole;
  for (Values& values : data) whole.push_back(&values);
  interpret(kernel, bindings, whole);
  const Values wanted = data.back();
  std::fill(data.back().begin(), data.back().end(), 0.0f);
  for (const Param& param : split->between) data.push_back(random_values(param, bindings, random));
  auto run = [&](const Kernel& half, const IdVector<ParamId, ParamId>& sources) {
    std::vector<Values*> params;
    for (ParamId source : sources) params.push_back(&data[source.index()]);
    interpret(half, bindings, params);
  };
  run(split->ranges, split->ranges_params);
  run(split->together, split->together_params);
  const Values& got = data[kernel.params.size() - 1];
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(wanted[i])) continue;
    ASSERT_NEAR(got[i], wanted[i], 1e-5) << i << "\n"
                                         << text(split->ranges) << text(split->together);
  }
}

const Expr kPast = Expr::var("p", 0, 4199);

TEST(SplitSoftmax, MeansTheSame) {
  for (int64_t p : {0, 1, 15, 255, 256, 257, 1000}) {
    SCOPED_TRACE(p);
    const Bindings bindings = {{"p", p}};
    expect_same(only_kernel({.room = kPast + 1}), bindings);
    expect_same(only_kernel({.options = {.causal = true, .past = kPast}}), bindings);
    expect_same(only_kernel({.options = {.causal = true, .past = kPast, .window = Expr(300)}}),
                bindings);
    expect_same(only_kernel({.room = kPast + 1, .with_mask = true}), bindings);
  }
}

// Fewer keys than a range holds by default are split too, if that is chosen.
TEST(SplitSoftmax, FewKeysMeanTheSame) {
  for (int64_t keys : {33, 64, 65, 160, 256}) {
    SCOPED_TRACE(keys);
    for (std::optional<int64_t> of_range : {std::optional<int64_t>(), std::optional<int64_t>(32)}) {
      expect_same(only_kernel({.room = keys}), {}, of_range);
      expect_same(only_kernel({.queries = 5, .room = keys, .with_mask = true}), {}, of_range);
    }
  }
  const Expr past = Expr::var("p", 0, 159);
  const Kernel cached = only_kernel({.room = 160, .options = {.causal = true, .past = past}});
  for (int64_t p : {0, 31, 32, 127, 128, 159}) {
    SCOPED_TRACE(p);
    expect_same(cached, {{"p", p}});
    expect_same(cached, {{"p", p}}, 64);
  }
}

TEST(SplitSoftmax, RangesAreShorterWhereThereAreFewKeys) {
  const auto keys = [](int64_t room) {
    return forms_of(only_kernel({.room = room})).keys_of_range;
  };
  EXPECT_EQ(keys(4096), 256);
  EXPECT_EQ(keys(257), 256);
  EXPECT_EQ(keys(256), 128);
  EXPECT_EQ(keys(160), 128);
  EXPECT_EQ(keys(128), 64);
  EXPECT_EQ(keys(33), 32);
  EXPECT_EQ(keys(32), 0);
  EXPECT_EQ(split_into(only_kernel({.room = 160})).between[0].dims[1], Expr(2));
  EXPECT_EQ(split_into(only_kernel({.room = 160}), 32).between[0].dims[1], Expr(5));
  EXPECT_EQ(split_into(only_kernel({.room = 160}), 512).between[0].dims[1], Expr(2))
      << "there are no more keys than that";
}

TEST(SplitSoftmax, IsAStrategyOfAllThatCanBeSplit) {
  const Kernel few = only_kernel({.room = 160}), many = only_kernel({.room = 4096});
  EXPECT_NE(default_strategy(few), Strategy::SplitAttention);
  EXPECT_TRUE(allows(few, Strategy::SplitAttention));
  EXPECT_EQ(default_strategy(many), Strategy::SplitAttention);
  EXPECT_TRUE(allows(many, Strategy::Loops));
  const Kernel busy = only_kernel({.heads = 512, .kv_heads = 512});
  EXPECT_NE(default_strategy(busy), Strategy::SplitAttention);
  EXPECT_TRUE(allows(busy, Strategy::SplitAttention));
  EXPECT_FALSE(allows(only_kernel({.room = 32}), Strategy::SplitAttention));
  EXPECT_FALSE(allows(only_kernel({.queries = 64}), Strategy::SplitAttention));
}

TEST(SplitSoftmax, ReadsNoKeysThatAMaskHides) {
  const auto split = forms_of(only_kernel({.options = {.causal = true, .past = kPast}})).split;
  ASSERT_TRUE(split);
  EXPECT_EQ(split->between[0].dims[1], ceil_div(kPast + 1, 256));
}

// A range has a key that counts, even if a mask hides it.
TEST(SplitSoftmax, LeavesAloneWhatMayHaveNoKeys) {
  const AttentionOptions hidden{.causal = true, .past = Expr(300)};
  EXPECT_FALSE(forms_of(only_kernel({.room = Expr::var("s", 0, 4200), .options = hidden})).split);
  EXPECT_TRUE(forms_of(only_kernel({.room = Expr::var("s", 1, 4200), .options = hidden})).split);
}

TEST(SplitSoftmax, LeavesManyRowsAndFewKeysAlone) {
  EXPECT_FALSE(forms_of(only_kernel({.queries = 64})).split);
  EXPECT_FALSE(forms_of(only_kernel({.room = 256})).split);
  EXPECT_TRUE(forms_of(only_kernel({.room = 257})).split);
  EXPECT_TRUE(forms_of(only_kernel({.queries = 2})).split);
  EXPECT_FALSE(forms_of(only_kernel({.heads = 512, .kv_heads = 512})).split);
}

}  // namespace
}  // namespace luminal::kernel

#include "luminal/shape/index_map.h"

#include <gtest/gtest.h>

#include "tests/shape/print_expr.h"
#include "tests/shape/variables.h"

namespace luminal {
namespace {

TEST(IndexMap, IdentityIsRecognised) {
  EXPECT_TRUE(IndexMap::identity({s(), 1, 4}).is_identity());
  EXPECT_EQ(IndexMap::identity({s(), 4}).text(), "[i0, i1]");
  EXPECT_FALSE(IndexMap::flip({4}, 0).is_identity());
}

TEST(IndexMap, PermuteTakesTheNamedAxes) {
  const int order[] = {2, 0, 1};
  const IndexMap map = IndexMap::permute({2, 3, 4}, order);
  EXPECT_EQ(text(map.dims()), "[4, 2, 3]");
  EXPECT_EQ(map.text(), "[i1, i2, i0]");
}

TEST(IndexMap, ExpandReadsIndexZeroOfSizeOne) {
  EXPECT_EQ(IndexMap::expand({1, s()}, {5, s()}).text(), "[0, i1]");
}

TEST(IndexMap, SqueezeUndoesUnsqueeze) {
  const IndexMap up = IndexMap::unsqueeze({s(), 4}, 1);
  EXPECT_EQ(up.text(), "[i0, i2]");
  EXPECT_TRUE(IndexMap::compose(IndexMap::squeeze(up.dims(), 1), up).is_identity());
}

TEST(IndexMap, SliceAndFlipAreAffine) {
  EXPECT_EQ(IndexMap::slice({10}, 0, 2, 3, 2).text(), "[i0 * 2 + 2]");
  EXPECT_EQ(IndexMap::flip({s()}, 0).text(), "[-i0 + s - 1]");
  EXPECT_TRUE(IndexMap::compose(IndexMap::flip({s()}, 0), IndexMap::flip({s()}, 0)).is_identity());
}

TEST(IndexMap, PadWrapsAndSaysWhereItIsInside) {
  EXPECT_EQ(IndexMap::pad({3}, 0, 1, 6).text(), "[(i0 + 2) % 3]");
  EXPECT_EQ(IndexMap::pad_valid({3}, 0, 1, 6).text(), "i0 >= 1 and i0 < 4");
  EXPECT_EQ(IndexMap::pad({s()}, 0, 0, s()).text(), "[i0]");
  EXPECT_EQ(IndexMap::pad({Expr::var("u", 1)}, 0, 0, Expr::var("u", 1) + 2).text(), "[i0 % u]");
  EXPECT_EQ(IndexMap::pad_valid({s()}, 0, 0, s()), Expr(1));
  EXPECT_EQ(IndexMap::pad_valid({s()}, 0, 2, s() + 2).text(), "i0 >= 2");
  EXPECT_EQ(IndexMap::pad_valid({0}, 0, 2, 4), Expr(0));
}

TEST(IndexMap, PadOfADimThatMayBeEmptyNeverDividesByZero) {
  const IndexMap map = IndexMap::pad({s()}, 0, 0, s() + 2);
  EXPECT_EQ(map.text(), "[i0 % max(s, 1)]");
  const int64_t at[] = {1};
  EXPECT_EQ(map.exprs()[0].evaluate({{"s", 0}}, at).value, 0);
}

TEST(IndexMap, CuttingThePaddingOffLeavesTheIdentity) {
  const IndexMap pad = IndexMap::pad({s()}, 0, 2, s() + 5);
  const IndexMap cut = IndexMap::slice(pad.dims(), 0, 2, s(), 1);
  EXPECT_TRUE(IndexMap::compose(cut, pad).is_identity());
  EXPECT_EQ(cut.apply(IndexMap::pad_valid({s()}, 0, 2, s() + 5)), Expr(1));
}

TEST(IndexMap, MergeDividesByInnerExtents) {
  EXPECT_EQ(IndexMap::merge({2, 3, 4}, 0, 3).text(), "[i0 // 12, i0 // 4 % 3, i0 % 4]");
  EXPECT_EQ(IndexMap::merge({s(), 4}, 0, 2).text(), "[i0 // 4, i0 % 4]");
  EXPECT_EQ(IndexMap::merge({2, 0, 3}, 0, 3).text(), "[0, 0, 0]");
}

TEST(IndexMap, SplitAndMergeUndoEachOther) {
  for (const Dims& dims : {Dims{4, 6}, Dims{s(), 4}, Dims{s(), t()}, Dims{4, s(), 3}}) {
    const int rank = static_cast<int>(dims.size());
    const IndexMap merge = IndexMap::merge(dims, 0, rank);
    const IndexMap split = IndexMap::split(merge.dims(), 0, dims);
    EXPECT_TRUE(IndexMap::compose(split, merge).is_identity()) << text(dims);
    EXPECT_TRUE(IndexMap::compose(merge, split).is_identity()) << text(dims);
  }
}

TEST(IndexMap, SplitOfASymbolicDimIsNeat) {
  const Expr factors[] = {s(), 4};
  EXPECT_EQ(IndexMap::split({s() * 4}, 0, factors).text(), "[i0 * 4 + i1]");
  const Expr symbolic[] = {4, s()};
  EXPECT_EQ(IndexMap::split({s() * 4}, 0, symbolic).text(), "[i0 * s + i1]");
}

TEST(IndexMap, WindowsPutTheOffsetLast) {
  const IndexMap map = IndexMap::windows({8, 5}, 0, 3, 2, 1);
  EXPECT_EQ(text(map.dims()), "[3, 5, 3]");
  EXPECT_EQ(map.text(), "[i0 * 2 + i2, i1]");
  EXPECT_EQ(text(IndexMap::windows({s()}, 0, 3, 1, 1).dims()), "[s - 2, 3]");
}

TEST(IndexMap, ReshapeKeepsMatchingDimsUnmixed) {
  EXPECT_EQ(IndexMap::reshape({s(), 64}, {s(), 8, 8}).text(), "[i0, i1 * 8 + i2]");
  EXPECT_EQ(IndexMap::reshape({s(), 8, 8}, {s(), 64}).text(), "[i0, i1 // 8, i1 % 8]");
  EXPECT_EQ(IndexMap::reshape({2, 6}, {3, 4}).text(), "[(i0 * 4 + i1) // 6, (i0 * 4 + i1) % 6]");
  EXPECT_EQ(IndexMap::reshape({4, s()}, {2, 2, s()}).text(), "[i0 * 2 + i1, i2]");
  EXPECT_EQ(IndexMap::reshape({1, s(), 1}, {s()}).text(), "[0, i0, 0]");
  EXPECT_EQ(IndexMap::reshape({s() * 4, t()}, {s(), 4, t()}).text(), "[i0 * 4 + i1, i2]");
  EXPECT_EQ(IndexMap::reshape({}, {1, 1}).text(), "[]");
  EXPECT_EQ(IndexMap::reshape({0, 3}, {3, 0}).text(), "[0, 0]");
}

TEST(IndexMap, ReshapeThereAndBackIsTheIdentity) {
  const IndexMap there = IndexMap::reshape({4, 6, 5}, {8, 15});
  EXPECT_TRUE(IndexMap::compose(IndexMap::reshape({8, 15}, {4, 6, 5}), there).is_identity());
  const IndexMap symbolic = IndexMap::reshape({s(), 4}, {4, s()});
  EXPECT_TRUE(IndexMap::compose(IndexMap::reshape({4, s()}, {s(), 4}), symbolic).is_identity());
}

TEST(Dims, CountAndStridesAreSymbolic) {
  EXPECT_EQ(n_elements({s(), 64, t()}), s() * t() * 64);
  EXPECT_EQ(n_elements({}), Expr(1));
  EXPECT_EQ(text(contiguous_strides({2, s(), 64})), "[s * 64, 64, 1]");
  EXPECT_TRUE(same_dims({s() + s()}, {s() * 2}));
  EXPECT_FALSE(same_dims({s()}, {s(), 1}));
}

}  // namespace
}  // namespace luminal

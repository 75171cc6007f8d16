#include "luminal/shape/shape.h"

#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "tests/shape/print_expr.h"
#include "tests/shape/variables.h"

namespace luminal {
namespace {

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shape, DefaultIsAScalar) {
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().n_elements(), Expr(1));
  EXPECT_EQ(Shape().n_physical_elements(), Expr(1));
  EXPECT_TRUE(Shape().is_contiguous());
}

TEST(Shape, ContiguousStridesAreRowMajor) {
  EXPECT_EQ(Shape({2, 3}).text(), "[2, 3] strides [3, 1]");
  EXPECT_EQ(Shape({s(), 1, 64}).text(), "[s, 1, 64] strides [64, 64, 1]");
  EXPECT_EQ(Shape({2, 1}).text(), "[2, 1] strides [1, 1]");
  EXPECT_EQ(Shape({s(), t()}).index().text(), "i0 * t + i1");
}

TEST(Shape, StridesSurvivePermuteSliceFlipExpand) {
  const Shape base({4, 6});
  EXPECT_EQ(base.permute({1, 0}).text(), "[6, 4] strides [1, 6]");
  EXPECT_EQ(base.slice(1, 1, 6, 2).text(), "[4, 3] strides [6, 2] offset 1");
  EXPECT_EQ(base.flip(0).text(), "[4, 6] strides [-6, 1] offset 18");
  EXPECT_EQ(base.unsqueeze(0).expand({5, 4, 6}).text(), "[5, 4, 6] strides [0, 6, 1]");
}

TEST(Shape, SymbolicStridesAreFound) {
  const Shape view = Shape({t(), s(), 64}).permute({1, 0, 2}).slice(0, Expr::var("p"), s());
  const auto strides = view.strides();
  ASSERT_TRUE(strides);
  EXPECT_EQ(text(*strides), "[64, s * 64, 1]");
  EXPECT_EQ(view.offset().text(), "p * 64");
}

TEST(Shape, MergeOfPermutedDimsHasNoStrides) {
  const Shape merged = Shape({4, 6}).permute({1, 0}).merge(0, 2);
  EXPECT_FALSE(merged.strides());
  EXPECT_EQ(merged.index().text(), "i0 // 4 + i0 % 4 * 6");
  EXPECT_EQ(merged.n_physical_elements(), Expr(24));
  EXPECT_FALSE(merged.is_contiguous());
}

TEST(Shape, MergeOfContiguousDimsIsContiguous) {
  EXPECT_TRUE(Shape({4, 6}).merge(0, 2).is_contiguous());
  EXPECT_TRUE(Shape({s(), t(), 3}).merge(0, 3).is_contiguous());
  const Shape sliced = Shape({t(), s()}).slice(0, Expr::var("p"), t()).merge(0, 2);
  EXPECT_EQ(sliced.index().text(), "p * s + i0");
}

TEST(Shape, PaddedIsNotContiguous) {
  const Shape padded = Shape({2, 3}).pad(1, 1, 2);
  EXPECT_TRUE(padded.is_padded());
  EXPECT_FALSE(padded.is_contiguous());
  EXPECT_EQ(padded.valid().text(), "i1 >= 1 and i1 < 4");
  EXPECT_EQ(padded.n_physical_elements(), Expr(6));
  EXPECT_FALSE(padded.slice(1, 1, 4).is_padded());
  EXPECT_TRUE(padded.slice(1, 1, 4).is_contiguous());
  EXPECT_FALSE(Shape({2, 3}).pad(1, 0, 0).is_padded());
}

TEST(Shape, PhysicalElementsReachTheLastPosition) {
  EXPECT_EQ(Shape({s(), 64}).n_physical_elements(), s() * 64);
  EXPECT_EQ(Shape({4, 6}).slice(0, 1, 3).n_physical_elements(), Expr(18));
  EXPECT_EQ(Shape::strided({2, 3}, {10, 2}, 5).n_physical_elements(), Expr(20));
  EXPECT_EQ(Shape::strided({3}, {-2}, 4).n_physical_elements(), Expr(5));
  EXPECT_EQ(Shape({4, 0}).n_physical_elements(), Expr(0));
  const Expr rows = Shape::strided({s(), 4}, {8, 1}).n_physical_elements();
  EXPECT_EQ(rows.evaluate({{"s", 0}}).value, 0);
  EXPECT_EQ(rows.evaluate({{"s", 2}}).value, 12);
}

TEST(Shape, NegativeSliceArgumentsCountFromTheEnd) {
  EXPECT_EQ(Shape({10}).slice(0, -3, -1).text(), "[2] strides [1] offset 7");
  EXPECT_EQ(Shape({10}).slice(0, 8, 2, -3).text(), "[2] strides [-3] offset 8");
  EXPECT_EQ(Shape({10}).slice(0, -1, -11, -1).text(), "[10] strides [-1] offset 9");
  EXPECT_EQ(Shape({s()}).slice(0, -4, s()).text(), "[4] strides [1] offset s - 4");
  EXPECT_EQ(Shape({3}).slice(0, 3, 3).n_elements(), Expr(0));
}

TEST(Shape, WindowsOverlap) {
  EXPECT_EQ(Shape({8}).windows(0, 3, 2).text(), "[3, 3] strides [2, 1]");
  EXPECT_EQ(Shape({8, 2}).windows(0, 2, 1, 3).text(), "[5, 2, 2] strides [2, 1, 6]");
  EXPECT_EQ(Shape({s()}).windows(0, 4, 4).dim(0).text(), "s // 4");
}

TEST(Shape, ReshapeOfSymbolicDims) {
  EXPECT_TRUE(Shape({s(), 64}).reshape({s(), 8, 8}).is_contiguous());
  EXPECT_TRUE(Shape({s(), 64}).reshape({8, s() * 8}).is_contiguous());
  const Shape heads = Shape({s(), 64}).reshape({s(), 8, 8}).permute({1, 0, 2});
  EXPECT_EQ(heads.text(), "[8, s, 8] strides [8, 64, 1]");
}

TEST(Shape, ResolveGivesConstants) {
  const Shape shape = Shape({s(), t()}).permute({1, 0}).merge(0, 2).resolve({{"s", 3}, {"t", 4}});
  EXPECT_EQ(text(shape.dims()), "[12]");
  EXPECT_TRUE(shape.index().variables().empty());
  EXPECT_EQ(Shape({s(), 4}).resolve({{"s", 1}}).index().text(), "i1");
  EXPECT_THROW(Shape({Expr::var("u", 1, 4)}).resolve({{"u", 9}}), UserError);
}

TEST(Shape, DimCountsFromTheEnd) {
  EXPECT_EQ(Shape({2, 3}).dim(-1), Expr(3));
  EXPECT_THROW(Shape({2, 3}).dim(2), UserError);
}

TEST(Shape, ErrorsSayWhatWasAskedAndTheWayOut) {
  const Shape shape({2, 3});
  EXPECT_EQ(
      error_of([&] { shape.slice(1, 5, 6); }),
      "slice: start 5 is past the end of axis 1 of size 3 in [2, 3]; use a start of at most 3");
  EXPECT_EQ(error_of([&] { shape.slice(1, 0, 4); }),
            "slice: stop 4 is past the end of axis 1 of size 3 in [2, 3]; use a stop of at most 3");
  EXPECT_EQ(error_of([&] { shape.permute({0, 0}); }),
            "permute: axis 0 is named twice; name each axis once");
  EXPECT_EQ(error_of([&] { shape.flip(2); }), "flip: axis 2 is not in [2, 3]; use -2 … 1");
  EXPECT_EQ(error_of([&] { shape.reshape({4}); }),
            "reshape: [2, 3] has 6 elements, [4] has 4; they must be equal");
  EXPECT_EQ(error_of([&] { shape.squeeze(0); }),
            "squeeze: axis 0 of size 2 in [2, 3] is not of size 1; slice it first");
}

TEST(Shape, WrongArgumentsAreUserErrors) {
  const Shape shape({2, 3});
  EXPECT_THROW(shape.slice(1, 2, 1), UserError);
  EXPECT_THROW(shape.slice(1, -4, 2), UserError);
  EXPECT_THROW(shape.slice(1, 0, 3, 0), UserError);
  EXPECT_THROW(shape.slice(1, 3, 0, -1), UserError);
  EXPECT_THROW(shape.slice(1, 0, 2, -1), UserError);
  EXPECT_THROW(shape.expand({2, 4}), UserError);
  EXPECT_THROW(shape.expand({2}), UserError);
  EXPECT_THROW(shape.permute({0}), UserError);
  EXPECT_THROW(shape.pad(0, -1, 0), UserError);
  EXPECT_THROW(shape.merge(1, 2), UserError);
  EXPECT_THROW(shape.merge(0, 0), UserError);
  EXPECT_THROW(shape.split(0, {3}), UserError);
  EXPECT_THROW(shape.split(0, {}), UserError);
  EXPECT_THROW(shape.windows(1, 4), UserError);
  EXPECT_THROW(shape.windows(1, 0), UserError);
  EXPECT_THROW(shape.windows(1, 2, 0), UserError);
  EXPECT_THROW(shape.reshape({s(), 2}), UserError);
  EXPECT_THROW(Shape({-1}), UserError);
  EXPECT_THROW(Shape(Dims(11, Expr(1))), UserError);
  EXPECT_THROW(Shape({Expr::index(0, 4)}), UserError);
  EXPECT_THROW(Shape::strided({2}, {1, 1}), UserError);
  EXPECT_THROW(Shape::strided({3}, {-1}), UserError);
  EXPECT_THROW(Shape().flip(0), UserError);
}

}  // namespace
}  // namespace luminal

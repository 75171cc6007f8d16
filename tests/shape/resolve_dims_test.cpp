#include "luminal/shape/index/resolve_dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace luminal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ResolveDims, GivesSizesAndTheirProduct) {
  Expr s = Expr::var("s", 0, 100);
  const Result<ResolvedDims> dims = resolve_dims({s, s + 1, 4}, {{"s", 2}});
  ASSERT_TRUE(dims);
  EXPECT_THAT(dims->sizes, ElementsAre(2, 3, 4));
  EXPECT_EQ(dims->count, 24);
  EXPECT_EQ(dims->bytes(DType::BF16), 48u);
  EXPECT_EQ(resolve_dims({}, {})->count, 1);
}

TEST(ResolveDims, NamesTheDimWithoutASize) {
  Expr s = Expr::var("s", 0, 100);
  EXPECT_THAT(resolve_dims({4, s}, {}).why(), HasSubstr("dim s of [4, s] has no value"));
  EXPECT_THAT(resolve_dims({s - 3}, {{"s", 1}}).why(), HasSubstr("would be -2"));
}

TEST(ResolveDims, RefusesMoreElementsThanBytesCanBeCountedFor) {
  const int64_t large = int64_t{1} << 31;
  EXPECT_THAT(resolve_dims({large, large}, {}).why(), HasSubstr("too many elements"));
  EXPECT_EQ(resolve_dims({large, large, large, 0}, {})->count, 0) << "empty, however large";
}

}  // namespace
}  // namespace luminal

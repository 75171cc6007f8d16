#include "luminal/egraph/union_find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

UnionFind with_ids(size_t count) {
  UnionFind ids;
  for (size_t i = 0; i < count; ++i) ids.make();
  return ids;
}

TEST(UnionFind, NewIdsCountUpAndStandAlone) {
  UnionFind ids;
  EXPECT_EQ(ids.make(), 0u);
  EXPECT_EQ(ids.make(), 1u);
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_FALSE(ids.same(0, 1));
  EXPECT_TRUE(ids.is_root(1));
}

TEST(UnionFind, TheLeastIdIsTheRoot) {
  UnionFind ids = with_ids(5);
  EXPECT_EQ(ids.unite(4, 2), 2u);
  EXPECT_EQ(ids.unite(4, 1), 1u);
  EXPECT_EQ(ids.unite(3, 4), 1u);
  EXPECT_EQ(ids.find(4), 1u);
  EXPECT_EQ(std::as_const(ids).find(2), 1u);
  EXPECT_EQ(ids.find(0), 0u);
}

TEST(UnionFind, TheLogHoldsEachDisplacedRootOnceInOrder) {
  UnionFind ids = with_ids(5);
  ids.unite(4, 3);
  ids.unite(3, 4);
  ids.unite(0, 0);
  ids.unite(1, 4);
  EXPECT_THAT(ids.displaced(), ElementsAre(4, 3));
  ids.clear_displaced();
  EXPECT_THAT(ids.displaced(), IsEmpty());
  ids.unite(0, 4);
  EXPECT_THAT(ids.displaced(), ElementsAre(1));
}

TEST(UnionFind, LongChainsAreFoundWithoutRecursion) {
  constexpr uint32_t kCount = 1'000'000;
  UnionFind ids = with_ids(kCount);
  for (uint32_t i = kCount - 1; i > 0; --i) ids.unite(i, i - 1);
  EXPECT_EQ(std::as_const(ids).find(kCount - 1), 0u);
  EXPECT_EQ(ids.find(kCount - 1), 0u);
  EXPECT_EQ(ids.displaced().size(), kCount - 1);
}

// The model: a label per id, relabelled at each union.
TEST(UnionFind, AgreesWithRelabellingOnRandomUnions) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const uint32_t count = 1 + random() % 60;
    UnionFind ids = with_ids(count);
    std::vector<uint32_t> label(count);
    for (uint32_t i = 0; i < count; ++i) label[i] = i;
    size_t displaced = 0;
    for (uint32_t step = random() % (2 * count); step > 0; --step) {
      const uint32_t a = random() % count, b = random() % count;
      const uint32_t low = std::min(label[a], label[b]), high = std::max(label[a], label[b]);
      if (low != high) ++displaced;
      std::replace(label.begin(), label.end(), high, low);
      ASSERT_EQ(ids.unite(a, b), low);
      const uint32_t probe = random() % count;
      ASSERT_EQ(ids.find(probe), label[probe]);
    }
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(std::as_const(ids).find(i), label[i]);
    ASSERT_EQ(ids.displaced().size(), displaced);
  }
}

}  // namespace
}  // namespace luminal::egraph

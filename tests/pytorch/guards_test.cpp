#include "luminal/pytorch/pt2/guards.h"

#include <gtest/gtest.h>

namespace luminal::pytorch {
namespace {

TEST(Guards, SizesThatAreEqualAreFound) {
  const auto found = equal_sizes("L['mask'].size()[1] == L['cache']['k'][3].size()[12]");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.input, "mask");
  EXPECT_EQ(found->first.axis, 1u);
  EXPECT_EQ(found->second.input, "cache_k_3");
  EXPECT_EQ(found->second.axis, 12u);
}

TEST(Guards, OthersAreLeftAlone) {
  for (const char* guard :
       {"", "L", "L[", "L['", "L['x", "L['x']", "L['x'].size()", "L['x'].size()[1]",
        "L['x'].size()[1] == 3", "L['x'].size()[1] <= L['y'].size()[1]",
        "2*L['x'].size()[1] == L['y'].size()[1]", "L['x'].size()[1] == L['y'].size()[1] + 1",
        "L['x'].size()[99999999999999999999] == L['y'].size()[1]"}) {
    EXPECT_FALSE(equal_sizes(guard)) << guard;
  }
}

}  // namespace
}  // namespace luminal::pytorch

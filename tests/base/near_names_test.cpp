#include "luminal/base/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace luminal::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearNames, AreAFewEditsOrAPrefixAway) {
  const std::vector<std::string> names = {"bias", "layer.weight", "output", "weight", "weights"};
  EXPECT_THAT(near_names("wieght", names), ElementsAre("weight"));
  EXPECT_THAT(near_names("weight_", names), ElementsAre("weight", "weights"));
  EXPECT_THAT(near_names("model.bias", names), ElementsAre("bias"));
  EXPECT_THAT(near_names("logits", names), IsEmpty());
}

}  // namespace
}  // namespace luminal::base

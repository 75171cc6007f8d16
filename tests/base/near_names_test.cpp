// Names that may have been meant, and how far words are from one another.
#include "luminal/base/text/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/text/edit_distance.h"

namespace luminal::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EditDistance, CountsWhatIsAddedLeftOutChangedOrSwapped) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("run", "rnu"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearNames, AreAFewEditsOrAPrefixAway) {
  const std::vector<std::string> names = {"bias", "layer.weight", "output", "weight", "weights"};
  EXPECT_THAT(near_names("wieght", names), ElementsAre("weight", "weights"));
  EXPECT_THAT(near_names("weight_", names), ElementsAre("weight", "weights"));
  EXPECT_THAT(near_names("model.bias", names), ElementsAre("bias"));
  EXPECT_THAT(near_names("logits", names), IsEmpty());
}

}  // namespace
}  // namespace luminal::base

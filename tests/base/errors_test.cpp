#include "luminal/base/errors.h"

#include "luminal/base/check.h"
#include "luminal/base/hash.h"
#include "luminal/base/ids.h"
#include "luminal/base/result.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal {
namespace {

TEST(Errors, ACheckThatHoldsDoesNotEvaluateItsMessage) {
  bool evaluated = false;
  auto message = [&] {
    evaluated = true;
    return std::string("no");
  };
  LUMINAL_CHECK(1 + 1 == 2, message());
  EXPECT_FALSE(evaluated);
}

TEST(Errors, AFailedCheckNamesItsPlaceAndCondition) {
  try {
    LUMINAL_CHECK(1 + 1 == 3, "sums are off");
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("errors_test.cpp:"), std::string::npos) << message;
    EXPECT_NE(message.find("sums are off (1 + 1 == 3 does not hold)"), std::string::npos);
    EXPECT_NE(message.find("please report"), std::string::npos);
  }
}

TEST(Result, HoldsAValueOrTheReasonThereIsNone) {
  Result<int> good = 7;
  Result<int> bad = Result<int>::failure("too many");
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 7);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.why(), "too many");
  EXPECT_THROW(*bad, InternalError);
}

TEST(Ids, NoneIsInvalidAndOrderIsByNumber) {
  struct Tag;
  EXPECT_FALSE(Id<Tag>{}.valid());
  EXPECT_TRUE(Id<Tag>{3}.valid());
  EXPECT_LT(Id<Tag>{3}, Id<Tag>{4});
}

TEST(Hash, IsTheSameInEveryRun) {
  EXPECT_EQ(base::hash(""), base::mix(0xcbf29ce484222325ull));
  EXPECT_NE(base::hash("ab"), base::hash("ba"));
  EXPECT_NE(base::combine(1, 2), base::combine(2, 1));
}

}  // namespace
}  // namespace luminal

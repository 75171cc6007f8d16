// Profiles read back as they were written, answer for what they hold, and say what is wrong.
#include "luminal/driver/fusion/fusion_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/user_error.h"

namespace luminal {
namespace {

using testing::HasSubstr;
using tests::user_error;

FusionAnswer answer_of(bool fuse, double ratio) {
  return {.fuse = fuse,
          .ratio = ratio,
          .low = ratio * 0.9,
          .high = ratio * 1.1,
          .rounds = 9,
          .fused_kernels = 2,
          .unfused_kernels = 4};
}

FusionShape tokens(int64_t count, DType dtype = DType::F32) {
  return {.tokens = count, .hidden = 64, .intermediate = 96, .dtype = dtype};
}

FusionProfile sample() {
  FusionProfile profile(
      {.device = "d", .description = "a device", .compiler = "c", .options = "o"});
  profile.add(FusionPattern::SwiGlu, tokens(32), answer_of(true, 0.8));
  profile.add(FusionPattern::SwiGlu, tokens(128), answer_of(true, 0.9));
  profile.add(FusionPattern::SwiGlu, tokens(256), answer_of(false, 1.2));
  profile.add(FusionPattern::SwiGlu, tokens(2048), answer_of(false, 1.3));
  profile.add(FusionPattern::AddRmsNorm, tokens(1, DType::BF16), answer_of(true, 1.0 / 3));
  return profile;
}

TEST(FusionProfile, ReadsBackToTheSameBytes) {
  const std::string json = sample().json();
  const FusionProfile again = FusionProfile::parse(json, "p");
  EXPECT_EQ(again.json(), json);
  EXPECT_EQ(again.size(), 5u);
  EXPECT_EQ(again.conditions().differ_from(sample().conditions()), "");
}

TEST(FusionProfile, OrderOfAnswersDoesNotShow) {
  FusionProfile profile(sample().conditions());
  profile.add(FusionPattern::SwiGlu, tokens(8), answer_of(true, 0.5));
  profile.add(FusionPattern::SwiGlu, tokens(4), answer_of(true, 0.5));
  FusionProfile other(sample().conditions());
  other.add(FusionPattern::SwiGlu, tokens(4), answer_of(true, 0.5));
  other.add(FusionPattern::SwiGlu, tokens(8), answer_of(true, 0.5));
  EXPECT_EQ(profile.json(), other.json());
}

TEST(FusionProfile, AnswersExactlyOrBetweenNeighboursThatAgree) {
  const FusionProfile profile = sample();
  const auto find = [&](int64_t count) {
    return profile.find(FusionPattern::SwiGlu, tokens(count));
  };
  EXPECT_EQ(find(128)->source, FusionSource::Profile);
  EXPECT_EQ(find(128)->ratio, 0.9);
  ASSERT_TRUE(find(64).has_value());
  EXPECT_EQ(find(64)->source, FusionSource::Between);
  EXPECT_TRUE(find(64)->fuse);
  EXPECT_EQ(find(64)->note, "32 and 128 tokens");
  EXPECT_DOUBLE_EQ(find(64)->low, 0.8 * 0.9);
  EXPECT_DOUBLE_EQ(find(64)->high, 0.9 * 1.1);
  EXPECT_FALSE(find(200).has_value()) << "128 and 256 disagree";
  EXPECT_FALSE(find(512).has_value()) << "256 and 2048 are too far apart";
  EXPECT_FALSE(find(16).has_value()) << "below all";
  EXPECT_FALSE(find(4096).has_value()) << "above all";
  EXPECT_FALSE(profile.find(FusionPattern::SwiGlu, tokens(128, DType::BF16)).has_value());
  EXPECT_FALSE(profile.find(FusionPattern::AddRmsNorm, tokens(64)).has_value());
  FusionShape wider = tokens(128);
  wider.intermediate = 97;
  EXPECT_FALSE(profile.find(FusionPattern::SwiGlu, wider).has_value());
}

TEST(FusionProfile, SaysWhatIsToBeKnownOfAnAnswer) {
  FusionAnswer answer = answer_of(true, 1);
  EXPECT_EQ(note_on(answer), "");
  answer.high = 3;
  EXPECT_EQ(note_on(answer), "the machine was too busy to tell");
  FusionProfile profile(sample().conditions());
  profile.add(FusionPattern::SwiGlu, tokens(4), answer);
  EXPECT_EQ(profile.find(FusionPattern::SwiGlu, tokens(4))->note, note_on(answer));
  answer.rounds = 0;
  EXPECT_EQ(note_on(answer), "both are the same plan");
}

TEST(FusionProfile, ConditionsThatDifferAreNamed) {
  const FusionConditions own = sample().conditions();
  FusionConditions other = own;
  other.compiler = "another";
  EXPECT_EQ(other.differ_from(own), "another version of the compiler");
  other = own;
  other.options = "library always";
  EXPECT_EQ(other.differ_from(own), "other options ('library always' instead of 'o')");
  const BackendOptions two{.threads = 2}, one{.threads = 1};
  const FusionConditions of_two = fusion_conditions(two, Numerics::Reassociating);
  EXPECT_THAT(fusion_conditions(one, Numerics::Reassociating).differ_from(of_two),
              HasSubstr("another device"));
}

TEST(FusionProfile, DamageIsNamed) {
  const std::string whole = sample().json();
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string json = whole;
    const size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    return user_error([&] { FusionProfile::parse(json, "p.json"); });
  };
  EXPECT_THAT(broken("{", ""), HasSubstr("'p.json' can't be used: it isn't JSON; remove it"));
  EXPECT_THAT(broken("\"luminal_fusion_profile\": 1", "\"luminal_fusion_profile\": 2"),
              HasSubstr("another format"));
  EXPECT_THAT(broken("\"compiler\"", "\"compile\""), HasSubstr("there is no 'compiler'"));
  EXPECT_THAT(broken("\"swiglu\"", "\"geglu\""), HasSubstr("there is no pattern 'geglu'"));
  EXPECT_THAT(broken("\"tokens\": 32", "\"tokens\": 0"), HasSubstr("'tokens' is 0"));
  EXPECT_THAT(broken("\"tokens\": 32", "\"tokens\": 128"), HasSubstr("answers a question twice"));
  EXPECT_THAT(broken("\"fuse\": true", "\"fuse\": 1"), HasSubstr("'fuse' isn't true or false"));
  EXPECT_THAT(broken("\"ratio\": 0.8", "\"ratio\": 8"), HasSubstr("outside of its interval"));
  EXPECT_THAT(broken("\"ratio\": 0.8", "\"ratio\": null"), HasSubstr("'ratio' isn't a number"));
}

}  // namespace
}  // namespace luminal

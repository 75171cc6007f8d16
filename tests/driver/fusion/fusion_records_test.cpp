// Fusion answers are comparisons in the tuning records; forged ones are ignored as others are.
#include "luminal/driver/fusion/fusion_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/records/samples.h"

namespace luminal {
namespace {

FusionAnswer answer_of(double ratio, int rounds = 9) {
  return {.ratio = ratio,
          .low = ratio * 0.9,
          .high = ratio * 1.1,
          .rounds = rounds,
          .fused_kernels = 2,
          .unfused_kernels = rounds == 0 ? 2 : 4};
}

FusionShape shape_of_tokens(int64_t count) {
  return {.tokens = count, .hidden = 64, .intermediate = 96, .dtype = DType::BF16};
}

TEST(FusionComparison, ReadsBack) {
  for (const auto& [answer, fuse] : {std::pair(answer_of(0.5), true),
                                     {answer_of(2), false},
                                     {answer_of(1.05), true},
                                     {answer_of(1, 0), false}}) {
    const auto read = read_fusion_comparison(fusion_comparison(8, answer));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->first, 8);
    EXPECT_EQ(read->second.fuse, fuse) << "a tie goes to fewer kernels, the same plan to storing";
    EXPECT_EQ(read->second.ratio, answer.ratio);
    EXPECT_EQ(read->second.rounds, answer.rounds);
    EXPECT_EQ(read->second.fused_kernels, answer.fused_kernels);
    EXPECT_EQ(read->second.unfused_kernels, answer.unfused_kernels);
  }
}

TEST(FusionComparison, OtherNamesAreNone) {
  const records::Comparison good = fusion_comparison(8, answer_of(0.5));
  for (const char* name :
       {"", "fused", "fused, ", "fused, 8 tokens, ", "fused, 8 tokens, 2",
        "fused, 8 tokens, 0 kernels", "fused, 8 tokens, 2 kernels ", "fused, 08 tokens, 2 kernels",
        "fused, -8 tokens, 2 kernels", "fused, 9 tokens, 2 kernels",
        "fused, 99999999999999999999 tokens, 2 kernels", "fused, 8 tokens, 99999999999 kernels",
        "unfused, 8 tokens, 4 kernels", "the same plan, 8 tokens, 2 kernels", "a plan's digest"}) {
    records::Comparison forged = good;
    forged.challenger = name;
    EXPECT_FALSE(read_fusion_comparison(forged).has_value()) << name;
  }
}

class FusionRecordsTest : public testing::Test {
 protected:
  FusionRecords records() { return FusionRecords(options_); }
  bool holds(int64_t count) {
    return records().find(FusionPattern::SwiGlu, shape_of_tokens(count)).has_value();
  }

  TemporaryFolder folder_;
  CompileOptions options_{.storage = {.records = folder_ / "records"}};
};

TEST_F(FusionRecordsTest, AnswerWhatTheyHoldAndWhatLiesBetween) {
  options_.search.keep_busy_times = true;
  for (int64_t count : {32, 64, 256}) {
    records().put(FusionPattern::SwiGlu, shape_of_tokens(count), answer_of(count < 100 ? 0.5 : 2));
  }
  const auto exact = records().find(FusionPattern::SwiGlu, shape_of_tokens(64));
  ASSERT_TRUE(exact.has_value());
  EXPECT_TRUE(exact->fuse);
  EXPECT_EQ(exact->source, FusionSource::Records);
  EXPECT_EQ(records().find(FusionPattern::SwiGlu, shape_of_tokens(48))->source,
            FusionSource::Between);
  EXPECT_FALSE(holds(128)) << "its neighbours don't agree";
  EXPECT_FALSE(holds(512));
  EXPECT_FALSE(records().find(FusionPattern::AddRmsNorm, shape_of_tokens(64)).has_value());
  options_.plan.numerics = Numerics::Exact;
  EXPECT_FALSE(holds(64)) << "of other options";
}

TEST_F(FusionRecordsTest, TheBetterMeasuredOneCounts) {
  options_.search.keep_busy_times = true;
  FusionAnswer other = answer_of(2, 99);
  other.unfused_kernels = 5;  // planned by other peaks
  for (const FusionAnswer& answer : {answer_of(0.5, 9), other, answer_of(0.6, 8)}) {
    records().put(FusionPattern::SwiGlu, shape_of_tokens(8), answer);
  }
  EXPECT_EQ(records().find(FusionPattern::SwiGlu, shape_of_tokens(8))->rounds, 99);
}

TEST_F(FusionRecordsTest, OfAnotherCompilerOrDeviceAreNotUsed) {
  const records::PlanKey key =
      fusion_question(fusion_conditions(options_.backend, options_.plan.numerics),
                      FusionPattern::SwiGlu, shape_of_tokens(8));
  for (std::string records::PlanKey::* part :
       {&records::PlanKey::compiler, &records::PlanKey::device, &records::PlanKey::question}) {
    records::PlanKey other = key;
    other.*part += " of another";
    records::Store::open(options_.storage.records).put(other, fusion_comparison(8, answer_of(0.5)));
  }
  EXPECT_FALSE(holds(8));
  records::Store::open(options_.storage.records).put(key, fusion_comparison(8, answer_of(0.5)));
  EXPECT_TRUE(holds(8));
}

TEST_F(FusionRecordsTest, ForgedOnesAreIgnored) {
  const records::PlanKey key =
      fusion_question(fusion_conditions(options_.backend, options_.plan.numerics),
                      FusionPattern::SwiGlu, shape_of_tokens(8));
  {
    records::Store store = records::Store::open(options_.storage.records);
    store.put(key, fusion_comparison(8, answer_of(0.5)));
    // With a valid digest, as somebody who knows the format would write it.
    store.put(key, {"unfused, 16 tokens, 4 kernels", "fused, 17 tokens, 2 kernels", 1, 1, 1, 9});
    store.put(key, {"unfused, 16 tokens, 4 kernels", "'; DROP TABLE kernels; --", 1, 1, 1, 9});
  }
  EXPECT_TRUE(holds(8));
  EXPECT_FALSE(holds(16));
  EXPECT_FALSE(holds(12));
  records::run_sql(options_.storage.records, "UPDATE comparisons SET ratio = 0.45");
  EXPECT_FALSE(holds(8)) << "its checksum doesn't match";
  EXPECT_EQ(records::Store::open(options_.storage.records).stats().damaged, 3);
}

}  // namespace
}  // namespace luminal

// Baselines that are written, read and compared; and all that can be wrong with one.
#include "apps/bench/kernels/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "apps/bench/harness/files.h"
#include "luminal/base/errors.h"

namespace luminal::bench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompareTest : public testing::Test {
 protected:
  CompareTest()
      : folder_(fs::temp_directory_path() /
                ("luminal_baseline_" + std::to_string(getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~CompareTest() override { fs::remove_all(folder_); }

  static std::vector<Task> some_tasks(const char* filter) {
    return tasks({.level = Level::Patterns,
                  .filter = filter,
                  .sizes = {Size::Tiny, Size::L1},
                  .dtypes = {DType::F32, DType::BF16, DType::F16, DType::I8},
                  .threads = {1},
                  .backends = {"cpu"}});
  }
  Baseline write(const char* filter) {
    return write_baseline(folder_, Level::Patterns, some_tasks(filter), said_nothing_);
  }
  std::vector<Compared> compare_with(const Baseline& baseline, CompareSettings settings) {
    return compare(baseline, "", settings, said_nothing_);
  }
  template <typename Function>
  static std::string error_of(const Function& function) {
    try {
      function();
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
  Progress said_nothing_ = [](const Moment&) {};
};

TEST_F(CompareTest, EveryPatternInEveryDtypeRunsFromItsBaseline) {
  write("tiny/");
  const Baseline baseline = read_baseline(folder_, Level::Patterns);
  EXPECT_EQ(baseline.cases.size(), some_tasks("tiny/").size());
  const auto outcomes = compare_with(baseline, {.rounds = 1});
  ASSERT_EQ(outcomes.size(), baseline.cases.size());
  for (const Compared& of : outcomes) {
    EXPECT_EQ(of.why_not, "") << of.name;
    EXPECT_FALSE(of.results_differ) << of.name;
    EXPECT_EQ(of.ratios.size(), 7u) << of.name;  // 1 + 2 + 4, never decided
    EXPECT_EQ(of.judgement.verdict, Verdict::NotDecided) << of.name;
  }
}

TEST_F(CompareTest, AThousandfoldSlowdownIsSlower) {
  const Baseline baseline = write("softmax/l1/f32");
  const auto outcomes = compare_with(
      baseline, {.rounds = 30, .planted_case = "softmax/l1/f32/cpu/t1", .planted_share = 9.0});
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].judgement.verdict, Verdict::Slower);
  EXPECT_GT(outcomes[0].judgement.ratio, 3);
}

TEST_F(CompareTest, ASlowdownOfNoCaseIsAnError) {
  const Baseline baseline = write("softmax/tiny/f32");
  EXPECT_THAT(
      error_of([&] { compare_with(baseline, {.planted_case = "softmax", .planted_share = 0.15}); }),
      HasSubstr("isn't one of the compared cases"));
}

TEST_F(CompareTest, ABaselineThatIsNotThereSaysHowToMakeOne) {
  EXPECT_THAT(error_of([&] { read_baseline(folder_, Level::Micro); }),
              HasSubstr("luminal bench micro --baseline"));
  write("softmax/tiny/f32");
  EXPECT_THAT(error_of([&] { read_baseline(folder_, Level::Micro); }),
              HasSubstr("there is no baseline-micro.json"));
}

TEST_F(CompareTest, ABaselineThatOthersCanWriteIsNotRun) {
  write("softmax/tiny/f32");
  fs::permissions(folder_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(error_of([&] { read_baseline(folder_, Level::Patterns); }),
              HasSubstr("only you can write"));
}

TEST_F(CompareTest, DamagedAndStrangeBaselinesAreRefused) {
  const Baseline baseline = write("softmax/tiny/f32");
  const fs::path bundle = folder_ / baseline.cases[0].file;
  std::string bytes = read_file(bundle);
  bytes[bytes.size() / 2] ^= 1;
  write_file(bundle, bytes);
  EXPECT_THAT(error_of([&] { compare_with(baseline, {.rounds = 1}); }), HasSubstr("damaged"));
  fs::remove(bundle);
  EXPECT_THAT(error_of([&] { compare_with(baseline, {.rounds = 1}); }), HasSubstr("can't read"));
  const fs::path list = folder_ / "baseline-patterns.json";
  for (const char* text : {"", "{}", "{\"format\": 9}",
                           "{\"format\": 1, \"made_by\": \"\", \"processor\": \"\", \"cases\": "
                           "[{\"name\": \"x\", \"file\": \"../x\", \"threads\": 1}]}"}) {
    write_file(list, text);
    EXPECT_NE(error_of([&] { read_baseline(folder_, Level::Patterns); }), "no error") << text;
  }
}

TEST_F(CompareTest, ACaseThatIsGoneIsNotComparedAndSaysSo) {
  Baseline baseline = write("softmax/tiny/f32");
  baseline.cases[0].name = "softmin/tiny/f32/cpu/t1";
  const auto outcomes = compare_with(baseline, {.rounds = 1});
  EXPECT_THAT(outcomes.at(0).why_not, HasSubstr("no such case"));
}

}  // namespace
}  // namespace luminal::bench

#include "luminal/base/os/company.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

namespace luminal::base {
namespace {

constexpr const char* kStat =
    "cpu  700 70 300 9000 50 10 20 40 0 0\n"
    "cpu0 400 40 200 4000 30 5 10 30 0 0\n"
    "cpu1 300 30 100 5000 20 5 10 10 0 0\n"
    "cpu10 999 0 0 0 0 0 0 0 0 0\n"
    "intr 12345\n";

TEST(Company, CountsTheCoresOfThisProcessAlone) {
  EXPECT_DOUBLE_EQ(busy_seconds(kStat, {1}, 100), 4.55);
  EXPECT_DOUBLE_EQ(busy_seconds(kStat, {0, 1}, 100), 4.55 + 6.85);
  EXPECT_DOUBLE_EQ(busy_seconds("", {0, 1}, 100), 0);
  EXPECT_DOUBLE_EQ(busy_seconds("cpu0 x\n", {0}, 100), 0);
}

using std::chrono::milliseconds;

// Moments as a test wants them.
struct Played {
  Company::Moment now;
  Company company{[this] { return std::optional(now); }};

  double cores_after(milliseconds time, double others) {
    now.at += time;
    now.others += others;
    return company.cores();
  }
};

TEST(Company, IsWhatOthersTookOfTheLastHalfSecond) {
  Played played;
  EXPECT_DOUBLE_EQ(played.cores_after(milliseconds(20), 0.02), 0) << "too short to tell";
  EXPECT_NEAR(played.cores_after(milliseconds(80), 0.13), 1.5, 1e-9);
  // What was long ago doesn't count.
  for (int i = 0; i < 12; ++i) played.cores_after(milliseconds(50), 0);
  EXPECT_DOUBLE_EQ(played.cores_after(milliseconds(50), 0), 0);
  EXPECT_NEAR(played.cores_after(milliseconds(500), 1), 2, 0.4);
}

// Both clocks are read one after the other, so a busy process may seem to take more than all.
TEST(Company, IsNeverLessThanNone) {
  Played played;
  EXPECT_DOUBLE_EQ(played.cores_after(milliseconds(600), -0.1), 0);
}

TEST(Company, IsNoneWhereNothingIsKnown) {
  Company company([] { return std::optional<Company::Moment>(); });
  EXPECT_DOUBLE_EQ(company.cores(), 0);
}

TEST(Company, ReadsWhatTheKernelCounts) {
  Company company;
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_GE(company.cores(), 0);
}

}  // namespace
}  // namespace luminal::base

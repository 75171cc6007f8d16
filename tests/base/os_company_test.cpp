#include "luminal/base/os_company.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

// What this process takes itself is no company, however many threads it has.
TEST(Company, OwnWorkIsNone) {
  const auto spin_for = [](std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  Company company;
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const double beside_nothing = company.cores();
  spin_for(std::chrono::milliseconds(600));
  // Others may be there all the time; a core of our own isn't added to them.
  EXPECT_LT(company.cores(), beside_nothing + 0.8);
}

}  // namespace
}  // namespace luminal::base

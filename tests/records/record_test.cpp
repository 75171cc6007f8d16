#include "luminal/records/record.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/records/samples.h"

namespace luminal::records {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Record, WhatNoClockMeasuresIsRefused) {
  EXPECT_EQ(why_refused(kernel_record(1e-3)), "");
  EXPECT_NE(why_refused(kernel_record(0)), "");
  EXPECT_NE(why_refused(kernel_record(-1e-3)), "");
  EXPECT_NE(why_refused(kernel_record(kNan)), "");
  EXPECT_NE(why_refused(kernel_record(kInfinity)), "");
  EXPECT_NE(why_refused(kernel_record(1e-3, 0)), "");
  EXPECT_NE(why_refused(kernel_record(1e-3, -5)), "");
  KernelRecord record = kernel_record(1e-3);
  record.low = 1.1e-3;
  EXPECT_NE(why_refused(record).find("outside of its interval"), std::string::npos);
  record = kernel_record(1e-3);
  record.high = 0.9e-3;
  EXPECT_NE(why_refused(record), "");
  record = kernel_record(1e-3);
  record.low = -kInfinity;
  EXPECT_NE(why_refused(record), "");
  record.low = kNan;
  EXPECT_NE(why_refused(record), "");
  record = kernel_record(1e-3);
  record.note = std::string(kMostNoteBytes + 1, 'x');
  EXPECT_NE(why_refused(record), "");
}

TEST(Record, ComparisonsPlansAndDevicesAreCheckedToo) {
  EXPECT_EQ(why_refused(comparison("b")), "");
  EXPECT_NE(why_refused(comparison("b", -1)), "");
  EXPECT_NE(why_refused(comparison("b", kNan)), "");
  EXPECT_NE(why_refused(comparison("b", 1, 0)), "");
  Comparison nameless = comparison("b");
  nameless.champion.clear();
  EXPECT_NE(why_refused(nameless), "");
  EXPECT_EQ(why_refused(Champion{"bytes", 0}), "");
  EXPECT_NE(why_refused(Champion{"bytes", -1}), "");
  EXPECT_NE(why_refused(Champion{"bytes", kMostRank + 1}), "");
  EXPECT_EQ(why_refused(device("a processor")), "");
  EXPECT_NE(why_refused(Device{base::digest("another"), "a processor"}), "");
}

TEST(Record, OfTwoTheBetterMeasuredStaysAndExactlyOneDoes) {
  KernelRecord unchecked = kernel_record(1e-3, 1000);
  unchecked.checked = false;
  KernelRecord narrow = kernel_record(1e-3, 10), noted = kernel_record(1e-3, 10);
  narrow.high = 1.1e-3;
  noted.note = "another note";
  const KernelRecord ascending[] = {unchecked, kernel_record(9e-4, 5), noted, narrow,
                                    kernel_record(2e-3, 11)};
  for (const KernelRecord& a : ascending) {
    for (const KernelRecord& b : ascending) {
      EXPECT_EQ(supersedes(a, b) + supersedes(b, a), a != b);
    }
  }
  EXPECT_TRUE(supersedes(ascending[1], unchecked));
  EXPECT_TRUE(supersedes(noted, ascending[1]));
  EXPECT_TRUE(supersedes(narrow, noted));
  EXPECT_TRUE(supersedes(ascending[4], narrow));
  EXPECT_TRUE(supersedes(comparison("b", 1, 8), comparison("b", 1, 7)));
  EXPECT_TRUE(supersedes(Champion{"z", 2}, Champion{"a", 1}));
  EXPECT_TRUE(supersedes(Champion{"a", 1}, Champion{"z", 1}));
}

}  // namespace
}  // namespace luminal::records

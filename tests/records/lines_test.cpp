#include "luminal/records/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/records/samples.h"
#include "tests/support/user_error.h"

namespace luminal::records {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string kernel_line() { return line_of(KernelEntry{kernel_key(1), kernel_record(1e-3)}); }

std::string plan_line() {
  return line_of(PlanEntry{plan_key(1), Champion{"plan", 3}, {comparison("b"), comparison("c")}});
}

TEST(Lines, ALineIsJsonThatReadsBack) {
  EXPECT_EQ(json::parse(kernel_line())["seconds"], 1e-3);
  const auto kernel = parse_line(kernel_line());
  ASSERT_TRUE(kernel) << kernel.why();
  EXPECT_EQ(std::get<KernelEntry>(*kernel).key, kernel_key(1));
  EXPECT_EQ(std::get<KernelEntry>(*kernel).record, kernel_record(1e-3));
  const auto plan = parse_line(plan_line());
  ASSERT_TRUE(plan) << plan.why();
  const PlanEntry& entry = std::get<PlanEntry>(*plan);
  EXPECT_EQ(entry.key, plan_key(1)) << "bytes that JSON can't hold";
  EXPECT_EQ(entry.champion, (Champion{"plan", 3}));
  EXPECT_EQ(entry.comparisons, (std::vector{comparison("b"), comparison("c")}));
  const auto of_device = parse_line(line_of(device("a \"processor\"\n")));
  ASSERT_TRUE(of_device) << of_device.why();
  EXPECT_EQ(std::get<Device>(*of_device), device("a \"processor\"\n"));
}

// A line with one field of the JSON changed.
std::string changed(const std::string& line, const std::string& pointer, const json& value) {
  json whole = json::parse(line);
  whole[json::json_pointer(pointer)] = value;
  return whole.dump();
}

std::string without(const std::string& line, const std::string& field) {
  json whole = json::parse(line);
  whole.erase(field);
  return whole.dump();
}

struct BadLine {
  std::string line;
  std::string why;
};

TEST(Lines, HostileLinesAreRefusedWithAReason) {
  const std::string altered = "its checksum doesn't match";
  const BadLine bad[] = {
      {"", "isn't JSON"},
      {"null", "isn't an object"},
      {"[1, 2]", "isn't an object"},
      {"{}", "no 'kind'"},
      {"{\"kind\": 7}", "'kind' isn't a string"},
      {"{\"kind\": \"egg\"}", "neither device, kernel nor plan"},
      {kernel_line().substr(0, 100), "isn't JSON"},
      {kernel_line() + "x", "isn't JSON"},
      {kernel_line() + std::string("\0 ", 2), "zero byte"},
      {"{\"kind\": \"kernel\", \"kernel\": [[[[[[[[[[", "nested deeper"},
      {changed(kernel_line(), "/seconds", 2e-3), "outside of its interval"},
      {changed(kernel_line(), "/seconds", 1.0001e-3), altered},
      {changed(kernel_line(), "/seconds", -1e-3), "isn't positive"},
      {changed(kernel_line(), "/seconds", "fast"), "'seconds' isn't a number"},
      {changed(kernel_line(), "/seconds", nullptr), "'seconds' isn't a number"},
      {changed(kernel_line(), "/samples", 0), "0 samples"},
      {changed(kernel_line(), "/samples", -1), "out of range"},
      {changed(kernel_line(), "/samples", 1.5), "isn't an integer"},
      {changed(kernel_line(), "/samples", 5'000'000'000), "out of range"},
      {changed(kernel_line(), "/samples", UINT64_MAX), "out of range"},
      {changed(kernel_line(), "/samples", 11), altered},
      {changed(kernel_line(), "/checked", 1), "isn't true or false"},
      {changed(kernel_line(), "/checked", false), altered},
      {changed(kernel_line(), "/kernel", "another kernel"), altered},
      {changed(kernel_line(), "/device", "another device"), altered},
      {changed(kernel_line(), "/compiler", "compiler 2"), altered},
      {changed(kernel_line(), "/note", "another"), altered},
      {changed(kernel_line(), "/note", std::string(5000, 'x')), "its note has 5000 bytes"},
      {changed(kernel_line(), "/kernel", {{"hex", "0g"}}), "isn't hex"},
      {changed(kernel_line(), "/kernel", {{"hex", "012"}}), "isn't hex"},
      {changed(kernel_line(), "/kernel", {{"base64", "AA=="}}), "no 'hex'"},
      {changed(kernel_line(), "/sum", std::string(64, '0')), altered},
      {changed(kernel_line(), "/more", 1), "doesn't know"},
      {without(kernel_line(), "sum"), "no 'sum'"},
      {without(kernel_line(), "high"), "no 'high'"},
      {changed(plan_line(), "/question", "another"), altered},
      {changed(plan_line(), "/plan/bytes", "another"), altered},
      {changed(plan_line(), "/plan/rank", 4), altered},
      {changed(plan_line(), "/plan/rank", -1), "out of range"},
      {changed(plan_line(), "/plan/rank", 2'000'000'000), "its rank 2000000000 isn't"},
      {changed(plan_line(), "/plan", "bytes"), "isn't an object"},
      {changed(plan_line(), "/comparisons", 7), "isn't a list"},
      {changed(plan_line(), "/comparisons/1/ratio", 1.4), altered},
      {changed(plan_line(), "/comparisons/1/rounds", 0), "0 rounds"},
      {changed(plan_line(), "/comparisons/1/champion", ""), "doesn't name both plans"},
      {without(plan_line(), "comparisons"), "no 'comparisons'"},
      {changed(line_of(device("d")), "/description", "e"), "fingerprint isn't that"},
      {changed(line_of(device("d")), "/fingerprint", {{"hex", "00"}}),
       "'fingerprint' isn't a string"},
  };
  for (const BadLine& of : bad) {
    const auto entry = parse_line(of.line);
    EXPECT_FALSE(entry) << of.line;
    EXPECT_THAT(entry.why(), HasSubstr(of.why)) << of.line;
  }
}

TEST(Lines, NumbersBeyondDoublesAreRefused) {
  std::string line = kernel_line();
  line.replace(line.find("0.001"), 5, "1e999");
  EXPECT_THAT(parse_line(line).why(), HasSubstr("isn't JSON"));
  line = kernel_line();
  line.replace(line.find("0.001"), 5, "NaN");
  EXPECT_THAT(parse_line(line).why(), HasSubstr("isn't JSON"));
}

TEST(Lines, EveryFlippedBitIsSeen) {
  const std::string whole = kernel_line();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      const auto entry = parse_line(damaged);
      if (!entry) continue;
      // Spaces, the case of e in a number, and escapes have several spellings.
      EXPECT_EQ(std::get<KernelEntry>(*entry).record, kernel_record(1e-3)) << damaged;
      EXPECT_EQ(std::get<KernelEntry>(*entry).key, kernel_key(1)) << damaged;
    }
  }
}

TEST(Lines, TheFirstLineSaysWhatTheyAre) {
  check_header(header_line(), "f");
  const auto fault = [](const std::string& line) {
    return tests::user_error([&] { check_header(line, "f"); });
  };
  EXPECT_THAT(fault(""), HasSubstr("'f' doesn't begin with the line {\"luminal_records\": 1}"));
  EXPECT_THAT(fault("SQLite format 3"), HasSubstr("luminal tune merge"));
  EXPECT_THAT(fault(kernel_line()), HasSubstr("doesn't begin"));
  EXPECT_THAT(fault("{\"luminal_records\": 2}"), HasSubstr("version 2"));
  EXPECT_THAT(fault("{\"luminal_records\": 2}"), HasSubstr("a newer one"));
  EXPECT_THAT(fault("{\"luminal_records\": 0}"), HasSubstr("version 0"));
}

}  // namespace
}  // namespace luminal::records

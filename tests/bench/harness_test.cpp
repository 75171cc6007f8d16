// The harness in one process: commands and answers, turns, samples. protocol_test.py has what needs
// processes.
#include <gtest/gtest.h>

#include <sstream>

#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/ratio_json.h"
#include "apps/bench/harness/samples.h"
#include "apps/bench/harness/turns.h"

namespace luminal::bench {
namespace {

class Constant : public Prepared {
 public:
  double run() override { return 2; }
  void add_facts(Json& answer) override { answer["fact"] = "constant"; }
};

Contestant fake() {
  return {.name = "fake",
          .version = "1",
          .cases = {"constant", "errs"},
          .settings = {{"size", 1}},
          .answer = answer_by_runs([](const std::string& of, const Json&) {
            if (of == "errs") throw std::runtime_error("a planted \"error\"\nof two lines");
            return std::make_unique<Constant>();
          })};
}

std::vector<Json> lines_for(const std::string& commands) {
  std::istringstream in(commands);
  std::ostringstream out;
  serve(fake(), in, out);
  std::vector<Json> lines;
  std::istringstream printed(out.str());
  for (std::string line; std::getline(printed, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Protocol, EachCommandHasOneLine) {
  const std::vector<Json> lines = lines_for(
      "{\"run\": \"constant\", \"times\": 2}\n\n{\"run\": \"errs\"}\nrubbish\n{\"quit\": true}\n"
      "{\"run\": \"constant\"}\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(
      lines[0].dump(),
      R"({"contestant":"fake","version":"1","cases":["constant","errs"],"settings":{"size":1}})");
  EXPECT_EQ(lines[1].dump(), R"({"case":"constant","seconds":[2.0,2.0],"fact":"constant"})");
  EXPECT_EQ(lines[2].dump(),
            R"({"case":"errs","error":"a planted \"error\"\nof two lines","status":"failed"})");
  EXPECT_EQ(lines[3]["status"], "failed");
}

TEST(Protocol, TheEndOfTheInputEndsIt) {
  EXPECT_EQ(lines_for("").size(), 1u);
  EXPECT_EQ(lines_for("{\"run\": \"constant\"}").size(), 2u);
}

TEST(Protocol, BytesThatAreNoTextDoNotBreakALine) {
  Contestant contestant = fake();
  contestant.answer = [](const Command&) -> Json { throw std::runtime_error("a file \xff"); };
  std::istringstream in("{\"run\": \"constant\"}\n");
  std::ostringstream out;
  serve(contestant, in, out);
  EXPECT_NE(out.str().find("a file \xef\xbf\xbd"), std::string::npos);
}

TEST(Turns, TheSideThatStartsChanges) {
  std::string order;
  const auto side = [&](char name) {
    return [&order, name](int round) {
      order += name;
      return static_cast<double>(round);
    };
  };
  const TurnTimes times = take_turns({side('a'), side('b'), side('c')}, {.least = 3, .most = 3});
  EXPECT_EQ(order, "abcbcacab");
  EXPECT_EQ(times, TurnTimes(3, {0, 1, 2}));
}

TEST(Turns, RoundsEndByTimeBetweenTheirLimits) {
  const auto side = [](int) { return 1.0; };
  EXPECT_EQ(take_turns({side}, {.least = 4, .most = 100, .seconds = 0})[0].size(), 4u);
  EXPECT_EQ(take_turns({side}, {.least = 4, .most = 9, .seconds = 3600})[0].size(), 9u);
}

TEST(Ratios, AreOfRounds) {
  const std::vector<double> ratios = ratios_of({2, 6, 4, 2, 4, 2, 9}, {1, 3, 2, 1, 2, 1, 3});
  EXPECT_EQ(ratio_json(ratios, 0.95).dump(), R"({"ratio":2.0,"low":2.0,"high":3.0,"rounds":7})");
  EXPECT_EQ(ratio_json({2}, 0.95).dump(), R"({"ratio":2.0,"low":0.0,"high":null,"rounds":1})");
}

TEST(Samples, TakeLongEnoughTogether) {
  int64_t runs = 0;
  const Samples samples = take_samples(
      [&] {
        ++runs;
        volatile double value = 1;
        for (int i = 0; i < 1000; ++i) value = value * 0.999;
      },
      0.01);
  EXPECT_GE(samples.seconds.size(), 1u);
  EXPECT_GE(samples.runs_per_sample, 1);
  double total = 0;
  for (double seconds : samples.seconds) {
    EXPECT_GT(seconds, 0);
    total += seconds * static_cast<double>(samples.runs_per_sample);
  }
  EXPECT_GE(total, 0.0099);
  EXPECT_GT(runs, std::ssize(samples.seconds) * samples.runs_per_sample);  // and some to warm up
}

TEST(Samples, AreAtLeastOne) {
  int runs = 0;
  EXPECT_EQ(take_samples([&] { ++runs; }, 0).seconds.size(), 1u);
  EXPECT_GT(runs, 1);
}

}  // namespace
}  // namespace luminal::bench

#include "luminal/kernel/plan/schedule_choices.h"

#include <gtest/gtest.h>

#include "luminal/base/errors.h"

namespace luminal::kernel {
namespace {

ScheduleChoices parsed(std::string_view text) {
  base::LineReader line(text, "test", 1);
  ScheduleChoices choices = parse_schedule(line);
  line.expect_end();
  return choices;
}

std::string why_not(std::string_view text) {
  try {
    parsed(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

TEST(ScheduleChoices, PrintInTheOrderOfKnobsAndParseBack) {
  const ScheduleChoices choices{{Knob::BlockK, 512}, {Knob::Unroll, 2}, {Knob::Streams, 0}};
  EXPECT_EQ(text(choices), "unroll 2, streams off, block_k 512");
  EXPECT_EQ(parsed(text(choices)), choices);
  EXPECT_EQ(text(ScheduleChoices()), "own");
  EXPECT_EQ(parsed("own"), ScheduleChoices());
}

TEST(ScheduleChoices, EveryKnobRoundTripsAtBothEnds) {
  for (const KnobInfo& knob : knobs()) {
    for (const int64_t value : {knob.least, knob.most}) {
      const ScheduleChoices choices{{knob.knob, value}};
      EXPECT_EQ(parsed(text(choices)), choices) << knob.text;
      EXPECT_EQ(choices.get(knob.knob, -1), value);
      EXPECT_EQ(choices.changes_time_only(), knob.effect == KnobEffect::Time);
    }
    EXPECT_THROW((ScheduleChoices{{knob.knob, knob.most + 1}}), UserError) << knob.text;
    EXPECT_THROW((ScheduleChoices{{knob.knob, knob.least - 1}}), UserError) << knob.text;
  }
}

TEST(ScheduleChoices, TheLastValueOfAKnobCounts) {
  ScheduleChoices choices{{Knob::Unroll, 2}};
  choices.set(Knob::Unroll, 4);
  EXPECT_EQ(text(choices), "unroll 4");
  EXPECT_EQ(choices.find(Knob::Prefetch), std::nullopt);
}

TEST(ScheduleChoices, MistakesAreNamedWithTheirPlace) {
  EXPECT_NE(why_not("unrol 2").find("'unrol' is not a schedule setting: unroll, streams"),
            std::string::npos);
  EXPECT_NE(why_not("unroll 99").find("unroll must be from 1 to 16, not 99"), std::string::npos);
  EXPECT_FALSE(why_not("streams 3").empty());
  EXPECT_FALSE(why_not("unroll 2,").empty());
}

}  // namespace
}  // namespace luminal::kernel

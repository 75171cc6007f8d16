#include "luminal/kernel/plan/schedule_choice.h"

#include <fmt/format.h>

namespace luminal::kernel {
namespace {

using Setting = ScheduleChoice::Setting;

Setting parse_setting(base::LineReader& line) {
  if (line.take("on")) return Setting::On;
  line.expect("off");
  return Setting::Off;
}

const char* text_of(Setting setting) { return setting == Setting::On ? "on" : "off"; }

}  // namespace

std::string text(const ScheduleChoice& choice) {
  std::string parts;
  auto add = [&](const std::string& part) { parts += (parts.empty() ? " " : ", ") + part; };
  if (choice.unroll > 0) add(fmt::format("unroll {}", choice.unroll));
  if (choice.streams != Setting::Own) add(fmt::format("streams {}", text_of(choice.streams)));
  if (choice.prefetch != Setting::Own) add(fmt::format("prefetch {}", text_of(choice.prefetch)));
  return "schedule" + (parts.empty() ? " own" : parts);
}

ScheduleChoice parse_schedule(base::LineReader& line) {
  ScheduleChoice choice;
  if (line.take("own")) return choice;
  do {
    const std::string_view knob = line.word();
    if (knob == "unroll") {
      choice.unroll = static_cast<int>(line.integer());
      if (choice.unroll < 1 || choice.unroll > kMostUnroll) {
        line.fail(fmt::format("the unroll factor must be from 1 to {}", kMostUnroll));
      }
    } else if (knob == "streams") {
      choice.streams = parse_setting(line);
    } else if (knob == "prefetch") {
      choice.prefetch = parse_setting(line);
    } else {
      line.fail(fmt::format("'{}' is not a schedule setting: unroll, streams or prefetch", knob));
    }
  } while (line.take(","));
  return choice;
}

std::span<const ScheduleChoice> schedule_choices() {
  static constexpr ScheduleChoice kChoices[] = {{.unroll = 1},
                                                {.unroll = 2},
                                                {.unroll = 8},
                                                {.streams = Setting::On},
                                                {.streams = Setting::Off},
                                                {.prefetch = Setting::Off}};
  return kChoices;
}

}  // namespace luminal::kernel

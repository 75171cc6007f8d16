#include "luminal/kernel/plan/schedule_choice.h"

#include <fmt/format.h>

namespace luminal::kernel {
namespace {

using Setting = ScheduleChoice::Setting;

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

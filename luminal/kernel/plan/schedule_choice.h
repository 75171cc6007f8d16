// ScheduleChoice: schedule settings of a kernel that were chosen by measurement. They change times,
// never results; a backend ignores those it doesn't support.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "luminal/base/text/line_reader.h"

namespace luminal::kernel {

struct ScheduleChoice {
  enum class Setting : uint8_t { Own, On, Off };  // Own: as the backend chooses
  int unroll = 0;                                 // copies of an inner loop's body; 0: own
  Setting streams = Setting::Own;                 // outputs are written with non-temporal stores
  Setting prefetch = Setting::Own;                // the next row's data is prefetched

  bool operator==(const ScheduleChoice&) const = default;
};

inline constexpr int kMostUnroll = 16;

// "schedule unroll 2, streams off"; "schedule own" where nothing is chosen.
std::string text(const ScheduleChoice& choice);

// What text() prints after "schedule ". UserError for what isn't one.
ScheduleChoice parse_schedule(base::LineReader& line);

// The choices worth trying besides the backend's own, each changing one setting.
std::span<const ScheduleChoice> schedule_choices();

}  // namespace luminal::kernel

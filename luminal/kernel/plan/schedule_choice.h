// ScheduleChoice: how a kernel is to be run, where a measurement said so. It changes times, never
// results; a backend takes of it what it has.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "luminal/base/text/line_reader.h"

namespace luminal::kernel {

struct ScheduleChoice {
  enum class Setting : uint8_t { Own, On, Off };  // Own: as the backend chooses
  int unroll = 0;                                 // copies of an inner loop's body; 0: own
  Setting streams = Setting::Own;                 // outputs bypass the caches
  Setting prefetch = Setting::Own;                // the next row's data is fetched ahead

  bool operator==(const ScheduleChoice&) const = default;
};

inline constexpr int kMostUnroll = 16;

// "schedule unroll 2, streams off"; "schedule own" where nothing is chosen.
std::string text(const ScheduleChoice& choice);

// What text() prints after "schedule ". UserError for what isn't one.
ScheduleChoice parse_schedule(base::LineReader& line);

// Each of the choices that are worth a try, but for the backend's own: one knob at a time.
std::span<const ScheduleChoice> schedule_choices();

}  // namespace luminal::kernel

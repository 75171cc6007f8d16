// PlanSearch: how a plan is chosen among those that the options admit; docs/search.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace luminal {

enum class SearchMode : uint8_t {
  // The plan that an earlier measured search of the same question left in the tuning records, else
  // the cost model's. CompileReport::plans says which. Times nothing.
  Recorded,
  Modelled,  // by the cost model alone, whatever the records hold
  Measured,  // by running them on this machine
  Replay,    // as a measured search went before, by its records alone; times nothing
};

struct PlanSearch {
  SearchMode mode = SearchMode::Recorded;
  // The budget of a measured search, of all variants together: whichever is over first.
  double seconds = 20;
  int candidates = 200;  // plans of each variant
  int warm_ups = 2;      // runs before those that are timed
  int trials = 15;       // timed runs; a kernel's time is their median
  int finalists = 3;     // plans that are run whole, alternating with the best so far
  // Keep times that were measured while other programs were running. Otherwise they are only used
  // by this compile, and a note says so.
  bool keep_busy_times = false;
  uint64_t seed = 1;  // of every mode
  // Of a measured search: `stop` is polled, and true ends the search with the best plan so far;
  // `events` gets a JSON object per event.
  std::function<bool()> stop = nullptr;
  std::function<void(const std::string& json)> events = nullptr;
};

}  // namespace luminal

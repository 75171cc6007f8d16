// What reading and writing rows of every table has in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace luminal::records {

// A row that was looked for. One that can't be trusted counts as absent, with a reason.
template <typename Record>
struct Found {
  std::optional<Record> record = {};
  int64_t used = 0;              // seconds since 1970
  std::string why_refused = {};  // empty where the row is good, or there is none
};

enum class Outcome : uint8_t { Added, Replaced, Kept };

// How many records went which way.
struct Tally {
  int64_t added = 0;
  int64_t replaced = 0;  // by one that supersedes it
  int64_t kept = 0;      // the one that was there is the same or better

  void count(Outcome outcome) {
    ++(outcome == Outcome::Added ? added : outcome == Outcome::Replaced ? replaced : kept);
  }
};

}  // namespace luminal::records

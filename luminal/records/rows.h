// Types shared by the reading and writing of all tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace luminal::records {

// The result of looking up a row. An invalid row counts as absent, with a reason.
template <typename Record>
struct Found {
  std::optional<Record> record = {};
  int64_t used = 0;              // seconds since 1970
  std::string why_refused = {};  // empty if the row is valid or absent
};

enum class Outcome : uint8_t { Added, Replaced, Kept };

// Number of records per Outcome.
struct Tally {
  int64_t added = 0;
  int64_t replaced = 0;  // by one that supersedes it
  int64_t kept = 0;      // the existing one is the same or better

  void count(Outcome outcome) {
    ++(outcome == Outcome::Added ? added : outcome == Outcome::Replaced ? replaced : kept);
  }
};

}  // namespace luminal::records

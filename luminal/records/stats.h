// Stats: counts of a file's records.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/records/record.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

inline constexpr size_t kMostRefusals = 20;  // limit of listed ones; all are counted

struct Stats {
  uint64_t bytes = 0;  // of the file and its log
  int version = 0;
  int64_t kernels = 0, plans = 0, comparisons = 0;  // valid ones
  struct Share {
    std::string name;         // a fingerprint, a compiler
    std::string description;  // of a device, if known
    int64_t kernels = 0, plans = 0, comparisons = 0;
  };
  std::vector<Share> devices = {}, compilers = {};  // by name
  int64_t damaged = 0;                              // invalid rows
  std::vector<Refusal> damage = {};                 // the first kMostRefusals of them
};

// Fills in everything except the size of the file.
Stats count_rows(Connection& db);

// Calls `scan`; if SQLite can't read the table, passes a refusal of the table to `refuse`.
void scan_table(std::string_view table, const std::function<void()>& scan,
                const std::function<void(Refusal&&)>& refuse);

}  // namespace luminal::records

// Pruning: removes records that are no longer needed from a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "luminal/records/record.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// A record is removed if any of these applies; damaged ones always are.
struct PruneOptions {
  std::optional<int64_t> unused_seconds = {};                  // not used for longer than this
  std::function<bool(const Device&)> keep_device = {};         // if false; description may be empty
  std::function<bool(const std::string&)> keep_compiler = {};  // if false
  std::optional<uint64_t> most_bytes = {};  // maximum file size: evicts the least recently used
  bool dry_run = false;
};

struct PruneResult {
  int64_t kernels = 0, plans = 0, comparisons = 0, damaged = 0;  // removed, or to be, if dry
  uint64_t bytes_before = 0, bytes_after = 0;                    // of the file; estimated if dry
};

// Removes rows only: the file itself doesn't shrink.
PruneResult prune_rows(Connection& db, const PruneOptions& options, int64_t now);

}  // namespace luminal::records

// Pruning: which records a file needn't hold any longer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "luminal/records/record.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// A record goes when any of these names it; damaged ones always go.
struct PruneOptions {
  std::optional<int64_t> unused_seconds = {};           // not used for longer than this
  std::function<bool(const Device&)> keep_device = {};  // others' go; description may be empty
  std::function<bool(const std::string&)> keep_compiler = {};  // others' go
  std::optional<uint64_t> most_bytes = {};  // of the file: least recently used go
  bool dry_run = false;
};

struct PruneResult {
  int64_t kernels = 0, plans = 0, comparisons = 0, damaged = 0;  // that went, or would
  uint64_t bytes_before = 0, bytes_after = 0;                    // of the file; estimated if dry
};

// Of the rows: the file itself is as large as before.
PruneResult prune_rows(Connection& db, const PruneOptions& options, int64_t now);

}  // namespace luminal::records

// Store: a file of tuning records, shared by all processes that tune or compile on a machine.
//
// Each put is its own transaction: once it returns, its record is visible to all processes, even if
// this one is killed right after. Rows carry a digest of their content. A row that is damaged, or
// that no measurement can have written, counts as absent. A store may be used by several threads;
// after a fork each process must open its own.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/records/prune.h"
#include "luminal/records/record.h"
#include "luminal/records/rows.h"
#include "luminal/records/schema.h"
#include "luminal/records/stats.h"

namespace luminal::records {

// The outcome of merging records from another source.
struct MergeResult {
  Tally devices, kernels, plans, comparisons;
  int64_t refused = 0;
  std::vector<Refusal> refusals = {};  // the first kMostRefusals of them
};

class Store {
 public:
  // UserError, with a remedy, if it isn't a file of records of this version, or can't be opened or
  // written to.
  static Store open(const std::filesystem::path& file, Mode mode = Mode::ReadWrite);
  // The user's default: records.sqlite in the cache folder.
  static std::filesystem::path default_file();

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  // The current record of exactly this key.
  std::optional<KernelRecord> find(const KernelKey& key) const;
  // Of two records with the same key the better measured one is kept, in whichever order they are
  // written: see supersedes().
  void put(const KernelKey& key, const KernelRecord& record);
  // All valid ones of a device and a compiler, ordered by the digests of their kernels.
  std::vector<KernelEntry> kernels(const std::string& device, const std::string& compiler) const;

  // Ordered by the digests of champion and challenger. Of two comparisons of the same pair the one
  // with more rounds is kept.
  std::vector<Comparison> comparisons(const PlanKey& key) const;
  void put(const PlanKey& key, const Comparison& comparison);

  // The winning plan: the last one put or, after a merge, the one with the higher rank.
  std::optional<std::string> plan(const PlanKey& key) const;
  void put_plan(const PlanKey& key, std::string_view champion_bytes);

  // Stores the readable description behind a fingerprint.
  void put(const Device& device);

  // Whether a plan was found whose time of use must be updated, but the store was opened for
  // reading only: open it for writing and look the plan up again.
  bool missed_use() const;

  // Number of invalid rows met since the store was opened.
  int64_t refused() const;

  // Reads every row.
  Stats stats() const;
  // Removes the records that the options select, and all damaged ones.
  PruneResult prune(const PruneOptions& options);

  // Adds the valid records of another file, which stays unchanged. The order in which files are
  // merged makes no difference.
  MergeResult merge_from(const std::filesystem::path& file);

  // Writes all valid records as JSON lines, deterministically; returns those left out.
  std::vector<Refusal> export_lines(std::ostream& out) const;
  // Adds the valid lines and counts the refused ones; `source` names the input in messages.
  // UserError if these aren't records of this version at all.
  MergeResult import_lines(std::istream& in, const std::string& source);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal::records

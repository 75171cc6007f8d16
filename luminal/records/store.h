// Store: a file of tuning records, shared by all processes that tune or compile on a machine.
//
// Each put is a transaction of its own: what it wrote is there for everybody once it returns, also
// if the process is killed right after. Rows carry a digest of their content. A row that was
// damaged, or that no measurement can have written, counts as absent. A store may be used by
// several threads; a process that forks opens one on each side.
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

// What became of records from elsewhere.
struct MergeResult {
  Tally devices, kernels, plans, comparisons;
  int64_t refused = 0;
  std::vector<Refusal> refusals = {};  // the first kMostRefusals of them
};

class Store {
 public:
  // UserError, with the way out, for what isn't a file of records of this version, can't be
  // reached, or can't be written to.
  static Store open(const std::filesystem::path& file, Mode mode = Mode::ReadWrite);
  // The user's: records.sqlite in the cache folder.
  static std::filesystem::path default_file();

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& file() const;

  // The record of this very key, as the file holds it now.
  std::optional<KernelRecord> find(const KernelKey& key) const;
  // Of two records of one key the better measured stays, whoever writes last: supersedes().
  void put(const KernelKey& key, const KernelRecord& record);

  // By the names of champion and challenger. Of two of one pair the one of more rounds stays.
  std::vector<Comparison> comparisons(const PlanKey& key) const;
  void put(const PlanKey& key, const Comparison& comparison);

  // The plan that won; the one put last, and of merged files' the one that followed more winners.
  std::optional<std::string> plan(const PlanKey& key) const;
  void put_plan(const PlanKey& key, std::string_view champion_bytes);

  // What a fingerprint in keys stands for, so that people can read it.
  void put(const Device& device);

  // How many rows this store has refused to use since it was opened.
  int64_t refused() const;

  // Looks at every row.
  Stats stats() const;
  // Removes what the options name, and always what is damaged.
  PruneResult prune(const PruneOptions& options);

  // Takes in the good records of another file, which stays as it is. In which order files are
  // merged makes no difference.
  MergeResult merge_from(const std::filesystem::path& file);

  // All good records as lines of JSON, the same for the same records; says what it left out.
  std::vector<Refusal> export_lines(std::ostream& out) const;
  // Takes in good lines and says what was refused; `source` is how messages call them. UserError
  // where they aren't records of this version at all.
  MergeResult import_lines(std::istream& in, const std::string& source);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal::records

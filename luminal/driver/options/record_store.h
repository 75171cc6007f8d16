// RecordStore: optional tuning records. If they can't be opened, read or written, a note says so,
// and the compile continues without records, as it does without a cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/company.h"
#include "luminal/records/store.h"

namespace luminal {

class RecordStore {
 public:
  // `file` as in StorageOptions::records. `required`: errors are thrown instead, for a replay,
  // which needs its records. `keep_busy`: also keep times measured next to other programs.
  RecordStore(const std::string& file, const records::Device& device, bool required,
              bool keep_busy = false);

  // The file's name; empty if there is none, or none any more.
  std::string file() const { return store_ ? store_->file().string() : ""; }

  std::optional<records::KernelRecord> find(const records::KernelKey& key);
  void put(const records::KernelKey& key, const records::KernelRecord& record);
  std::vector<records::Comparison> comparisons(const records::PlanKey& key);
  void put(const records::PlanKey& key, const records::Comparison& comparison);
  std::optional<std::string> plan_bytes(const records::PlanKey& key);
  // Not if times that chose the plan weren't kept.
  void put_plan_bytes(const records::PlanKey& key, const std::string& bytes);

  // What failed or wasn't kept, each once.
  std::vector<std::string> notes() const;

 private:
  template <typename Work>
  void attempt(const Work& work);

  // Whether the machine was quiet enough to keep a time measured just now.
  bool is_quiet();

  bool required_;
  bool keep_busy_;
  base::Company company_;
  double most_company_ = 0;  // in cores: maximum load of times that weren't kept
  int left_out_ = 0;         // number of such times
  std::optional<records::Store> store_;
  std::vector<std::string> notes_;
};

}  // namespace luminal

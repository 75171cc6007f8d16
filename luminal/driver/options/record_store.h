// RecordStore: optional tuning records. If they can't be opened, read or written, a note says so,
// and the compile continues without records, as it does without a cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/company.h"
#include "luminal/records/store.h"

namespace luminal {

struct RecordUse {
  bool required = false;    // errors are thrown instead: a replay needs its records
  bool keep_busy = false;   // also keep times measured next to other programs
  bool or_reading = false;  // a file that can't be written to is read
};

class RecordStore {
 public:
  // `file` as in StorageOptions::records.
  RecordStore(const std::string& file, const records::Device& device, const RecordUse& use);

  // The file's name; empty if there is none, or none any more.
  std::string file() const { return store_ ? store_->file().string() : ""; }

  std::optional<records::KernelRecord> find(const records::KernelKey& key);
  void put(const records::KernelKey& key, const records::KernelRecord& record);
  std::vector<records::Comparison> comparisons(const records::PlanKey& key);
  void put(const records::PlanKey& key, const records::Comparison& comparison);
  std::optional<std::string> plan_bytes(const records::PlanKey& key);
  // Returns whether it is recorded: not if times that chose the plan weren't.
  bool put_plan_bytes(const records::PlanKey& key, const std::string& bytes);

  // What failed or wasn't kept, each once.
  std::vector<std::string> notes() const;

 private:
  template <typename Work>
  void attempt(const Work& work);

  // Whether the machine was quiet enough to keep a time measured just now.
  bool is_quiet();

  RecordUse use_;
  bool only_reads_ = false;
  base::Company company_;
  double most_company_ = 0;  // in cores: maximum load of times that weren't kept
  int left_out_ = 0;         // number of such times
  std::optional<records::Store> store_;
  std::vector<std::string> notes_;
};

}  // namespace luminal

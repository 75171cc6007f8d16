// TuningStore: optional tuning records. If they can't be opened, read or written, a note says so,
// and the compile continues without records, as it does without a cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/company.h"
#include "luminal/base/os/secret.h"
#include "luminal/driver/measure/tuned_plan.h"
#include "luminal/records/store.h"

namespace luminal {

class TuningStore {
 public:
  // `file` as in StorageOptions::records. `required`: errors are thrown instead, for a replay,
  // which needs its records. `keep_busy`: also keep times measured next to other programs.
  TuningStore(const std::string& file, const records::Device& device, bool required,
              bool keep_busy = false);

  // The file's name; empty if there is none, or none any more.
  std::string file() const { return store_ ? store_->file().string() : ""; }

  std::optional<records::KernelRecord> find(const records::KernelKey& key);
  void put(const records::KernelKey& key, const records::KernelRecord& record);
  std::vector<records::Comparison> comparisons(const records::PlanKey& key);
  void put(const records::PlanKey& key, const records::Comparison& comparison);
  // ByteError for bytes that aren't a plan.
  std::optional<TunedPlan> plan(const records::PlanKey& key);
  void put_plan(const records::PlanKey& key, const TunedPlan& plan);

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
  std::optional<base::Secret> secret_;  // distinguishes this user's plans from others'
  std::vector<std::string> notes_;
};

}  // namespace luminal

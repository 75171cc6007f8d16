// TuningStore: tuning records that a compile can do without. What can't be opened, read or written
// becomes a note, and the compile goes on without records, as it does without a cache.
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
  // `file` as CompileOptions::records has it. `required`: errors are thrown instead, as by a
  // replay, which is nothing without its records. `keep_busy`: what is measured beside other
  // programs is kept, too.
  TuningStore(const std::string& file, const records::Device& device, bool required,
              bool keep_busy = false);

  // The file's name; empty where there is none, or none any more.
  std::string file() const { return store_ ? store_->file().string() : ""; }

  std::optional<records::KernelRecord> find(const records::KernelKey& key);
  void put(const records::KernelKey& key, const records::KernelRecord& record);
  std::vector<records::Comparison> comparisons(const records::PlanKey& key);
  void put(const records::PlanKey& key, const records::Comparison& comparison);
  // ByteError for bytes that aren't a plan.
  std::optional<TunedPlan> plan(const records::PlanKey& key);
  void put_plan(const records::PlanKey& key, const TunedPlan& plan);

  // What went wrong or wasn't kept, once.
  std::vector<std::string> notes() const;

 private:
  template <typename Work>
  void attempt(const Work& work);

  // Whether a time that was measured just now may be kept.
  bool is_quiet();

  bool required_;
  bool keep_busy_;
  base::Company company_;
  double most_company_ = 0;  // cores, of times that weren't kept
  int left_out_ = 0;         // such times
  std::optional<records::Store> store_;
  std::optional<base::Secret> secret_;  // tells this user's plans from others'
  std::vector<std::string> notes_;
};

}  // namespace luminal

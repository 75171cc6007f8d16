// TuningStore: tuning records with the plans in them, sealed by this user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/secret.h"
#include "luminal/driver/measure/tuned_plan.h"
#include "luminal/driver/options/record_store.h"

namespace luminal {

// What a plan is sealed for: a plan sealed for one question isn't valid for another.
std::string sealed_key(const records::PlanKey& key);

class TuningStore : public RecordStore {
 public:
  TuningStore(const std::string& file, const records::Device& device, const RecordUse& use);

  // ByteError for bytes that aren't a plan.
  std::optional<TunedPlan> plan(const records::PlanKey& key);
  // Returns whether it is recorded.
  bool put_plan(const records::PlanKey& key, const TunedPlan& plan);

  std::vector<std::string> notes() const;

 private:
  std::optional<base::Secret> secret_;  // distinguishes this user's plans from others'
  std::string why_no_secret_;
};

}  // namespace luminal

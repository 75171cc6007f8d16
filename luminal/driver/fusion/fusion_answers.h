// FusionAnswers: answers to should_fuse(), from the profile, this process, the tuning records or a
// measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/driver/fusion/fusion_records.h"

namespace luminal {

class FusionAnswers {
 public:
  // The options must outlive it.
  explicit FusionAnswers(const CompileOptions& options);

  FusionAnswer find(FusionPattern pattern, const FusionShape& shape,
                    const FusionTiming& timing = {});

  // What failed with the tuning records, or wasn't kept in them.
  std::vector<std::string> notes() const;

 private:
  std::optional<FusionProfile> usable_profile() const;
  void keep_in_profile(FusionPattern pattern, const FusionShape& shape, const FusionAnswer& answer);
  FusionAnswer recorded_or_measured(FusionPattern pattern, const FusionShape& shape,
                                    const FusionTiming& timing);

  const CompileOptions& options_;
  FusionConditions conditions_;
  std::optional<FusionRecords> records_;  // opened by the first question that needs it
};

}  // namespace luminal

// FusionRecords: fusion answers in the tuning records, as comparisons of two plans of a pattern.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/options/record_store.h"

namespace luminal {

// All shapes of a pattern that differ in tokens alone are one question.
records::PlanKey fusion_question(const FusionConditions& conditions, FusionPattern pattern,
                                 const FusionShape& shape);
records::Comparison fusion_comparison(int64_t tokens, const FusionAnswer& answer);
// The tokens and the answer; none if it isn't a comparison of a pattern's plans.
std::optional<std::pair<int64_t, FusionAnswer>> read_fusion_comparison(
    const records::Comparison& comparison);

class FusionRecords {
 public:
  explicit FusionRecords(const CompileOptions& options);

  // As FusionProfile::find().
  std::optional<FusionAnswer> find(FusionPattern pattern, const FusionShape& shape);
  // Keeps a measured answer; not if other programs were running, unless the options say so.
  void put(FusionPattern pattern, const FusionShape& shape, const FusionAnswer& answer);

  // What failed or wasn't kept.
  std::vector<std::string> notes() const { return store_.notes(); }

 private:
  FusionConditions conditions_;
  RecordStore store_;
};

}  // namespace luminal

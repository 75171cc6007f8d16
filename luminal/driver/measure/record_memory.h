// RecordMemory: what a search measured, in a file of records, or for this compile alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "luminal/driver/measure/tuning_store.h"
#include "luminal/search/measured/measured_search.h"

namespace luminal {

class RecordMemory : public search::SearchMemory {
 public:
  // `store` outlives this. `question` is what comparisons answer; without one they are remembered
  // for this compile alone.
  RecordMemory(TuningStore& store, const records::Device& device,
               std::optional<records::PlanKey> question);

  std::optional<records::KernelRecord> kernel(const std::string& key) override;
  void remember(const std::string& key, const records::KernelRecord& record) override;
  std::optional<records::Comparison> comparison(const std::string& champion,
                                                const std::string& challenger) override;
  void remember(const records::Comparison& comparison) override;

 private:
  records::KernelKey key_of(const std::string& key) const;

  TuningStore& store_;
  std::string device_;
  std::optional<records::PlanKey> question_;
  std::map<std::pair<std::string, std::string>, records::Comparison> comparisons_;
};

}  // namespace luminal

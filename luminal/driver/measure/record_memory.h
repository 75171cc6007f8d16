// RecordMemory: measurements of a search, in a file of tuning records or for this compile only.
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
  // `store` must outlive this. `question` is the plan key of comparisons; without one they are kept
  // for this compile only.
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

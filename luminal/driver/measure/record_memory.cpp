#include "luminal/driver/measure/record_memory.h"

#include "luminal/base/source_fingerprint.h"

namespace luminal {

RecordMemory::RecordMemory(TuningStore& store, const records::Device& device,
                           std::optional<records::PlanKey> question)
    : store_(store), device_(device.fingerprint), question_(std::move(question)) {
  if (!question_) return;
  for (records::Comparison& known : store_.comparisons(*question_)) {
    comparisons_.emplace(std::make_pair(known.champion, known.challenger), known);
  }
}

records::KernelKey RecordMemory::key_of(const std::string& key) const {
  return {.kernel = key, .device = device_, .compiler = std::string(base::code_fingerprint())};
}

// An unchecked time may be that of a wrong kernel.
std::optional<records::KernelRecord> RecordMemory::kernel(const std::string& key) {
  const std::optional<records::KernelRecord> record = store_.find(key_of(key));
  return record && record->checked ? record : std::nullopt;
}

void RecordMemory::remember(const std::string& key, const records::KernelRecord& record) {
  store_.put(key_of(key), record);
}

std::optional<records::Comparison> RecordMemory::comparison(const std::string& champion,
                                                            const std::string& challenger) {
  const auto known = comparisons_.find({champion, challenger});
  return known == comparisons_.end() ? std::nullopt : std::optional(known->second);
}

void RecordMemory::remember(const records::Comparison& comparison) {
  comparisons_.insert_or_assign({comparison.champion, comparison.challenger}, comparison);
  if (question_) store_.put(*question_, comparison);
}

}  // namespace luminal

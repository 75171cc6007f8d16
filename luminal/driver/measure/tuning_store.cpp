#include "luminal/driver/measure/tuning_store.h"

#include <fmt/format.h>

#include "luminal/base/byte_stream.h"

namespace luminal {

std::string sealed_key(const records::PlanKey& key) {
  base::ByteWriter out;
  out.text(key.question);
  out.text(key.device);
  out.text(key.compiler);
  return out.bytes();
}

TuningStore::TuningStore(const std::string& file, const records::Device& device,
                         const RecordUse& use)
    : RecordStore(file, device, use) {
  if (this->file().empty()) return;
  const Result<base::Secret> secret = base::user_secret();
  if (secret) {
    secret_ = *secret;
  } else {
    why_no_secret_ = secret.why();
  }
}

std::vector<std::string> TuningStore::notes() const {
  std::vector<std::string> notes = RecordStore::notes();
  if (!why_no_secret_.empty()) {
    notes.insert(notes.begin(), fmt::format("tuned plans can't be authenticated, so they are "
                                            "derived from the records again each time: {}",
                                            why_no_secret_));
  }
  return notes;
}

std::optional<TunedPlan> TuningStore::plan(const records::PlanKey& key) {
  const std::optional<std::string> bytes = plan_bytes(key);
  if (!bytes) return std::nullopt;
  return read_tuned_plan(*bytes, sealed_key(key), secret_);
}

bool TuningStore::put_plan(const records::PlanKey& key, const TunedPlan& plan) {
  return put_plan_bytes(key, write_tuned_plan(plan, sealed_key(key), secret_));
}

}  // namespace luminal

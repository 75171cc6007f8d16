#include "luminal/driver/measure/recorded_plan.h"

#include <fmt/format.h>

#include "luminal/base/byte_stream.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/secret.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/driver/measure/tuning_store.h"
#include "luminal/records/device.h"
#include "luminal/records/store.h"

namespace luminal {
namespace {

// Pruning counts from the last use.
void note_use(const std::filesystem::path& file, const records::PlanKey& key) {
  try {
    records::Store::open(file).plan(key);
  } catch (const std::exception&) {
    // The file can't be written to: then nobody prunes it either.
  }
}

RecordedPlan looked_up(const std::filesystem::path& file, const records::PlanKey& key) {
  std::optional<std::string> bytes;
  bool missed_use = false;
  {
    const records::Store store = records::Store::open(file, records::Mode::ReadOnly);
    bytes = store.plan(key);
    missed_use = store.missed_use();
    if (store.refused() > 0) {
      return {.note = fmt::format("the plan that '{}' holds of this graph is damaged, so the cost "
                                  "model's is used; `luminal tune prune` removes it",
                                  file.string())};
    }
  }
  if (!bytes) return {};
  if (missed_use) note_use(file, key);
  const Result<base::Secret> secret = base::user_secret();
  try {
    return {.plan = read_tuned_plan(*bytes, sealed_key(key),
                                    secret ? std::optional(*secret) : std::nullopt)};
  } catch (const base::ByteError& error) {
    return {.note = fmt::format("the plan that '{}' holds of this graph can't be read, so the cost "
                                "model's is used: {}",
                                file.string(), error.what())};
  }
}

}  // namespace

std::optional<std::filesystem::path> existing_records(const StorageOptions& storage) {
  if (storage.records == "none") return std::nullopt;
  try {
    std::filesystem::path file = storage.records.empty() ? records::Store::default_file()
                                                         : std::filesystem::path(storage.records);
    std::error_code error;
    const auto type = std::filesystem::status(file, error).type();
    // Anything else that is there is opened, so that the error says what is wrong with it.
    if (type == std::filesystem::file_type::not_found) return std::nullopt;
    return file;
  } catch (const UserError&) {
    return std::nullopt;  // without a home directory nothing is recorded
  }
}

RecordedPlan recorded_plan(const std::filesystem::path& file, const backends::LoadOptions& load,
                           const std::string& question) {
  const records::PlanKey key{.question = question,
                             .device = records::this_device(load.target, load.threads).fingerprint,
                             .compiler = std::string(base::source_fingerprint())};
  const auto unused = [](const std::exception& error) {
    return RecordedPlan{.note = fmt::format("tuning records are not used: {}", error.what())};
  };
  try {
    return looked_up(file, key);
  } catch (const UserError& error) {
    return unused(error);
  } catch (const DeviceError& error) {
    return unused(error);
  }
}

}  // namespace luminal

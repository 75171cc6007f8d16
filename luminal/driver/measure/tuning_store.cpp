#include "luminal/driver/measure/tuning_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/byte_stream.h"
#include "luminal/base/errors.h"

namespace luminal {
namespace {

// In cores: less load from other programs hardly disturbs measurements.
constexpr double kMostCompany = 0.2;

std::string sealed_key(const records::PlanKey& key) {
  base::ByteWriter out;
  out.text(key.question);
  out.text(key.device);
  out.text(key.compiler);
  return out.bytes();
}

}  // namespace

template <typename Work>
void TuningStore::attempt(const Work& work) {
  if (required_) return work();
  const auto give_up = [&](const std::exception& error) {
    notes_.push_back(fmt::format(
        "tuning records are not used any further, and nothing is added to them: {}", error.what()));
    store_.reset();
  };
  try {
    work();
  } catch (const UserError& error) {
    give_up(error);
  } catch (const DeviceError& error) {
    give_up(error);
  }
}

TuningStore::TuningStore(const std::string& file, const records::Device& device, bool required,
                         bool keep_busy)
    : required_(required), keep_busy_(keep_busy) {
  if (file == "none") {
    if (required) throw UserError("replay: there are no records to replay; name a file of them");
    return;
  }
  attempt([&] {
    store_ = records::Store::open(file.empty() ? records::Store::default_file()
                                               : std::filesystem::path(file));
    store_->put(device);
  });
  if (!store_) return;
  const Result<base::Secret> secret = base::user_secret();
  if (secret) {
    secret_ = *secret;
  } else {
    notes_.push_back(fmt::format(
        "tuned plans can't be told from those of others, and are derived again each time: {}",
        secret.why()));
  }
}

bool TuningStore::is_quiet() {
  if (keep_busy_ || !store_) return true;
  const double cores = company_.cores();
  if (cores <= kMostCompany) return true;
  most_company_ = std::max(most_company_, cores);
  ++left_out_;
  return false;
}

std::vector<std::string> TuningStore::notes() const {
  std::vector<std::string> notes = notes_;
  if (left_out_ > 0) {
    notes.push_back(fmt::format(
        "{} times were measured while other programs took up to {:.1f} cores: they chose this plan "
        "and aren't kept in the tuning records; compile again when the machine is idle, or with "
        "--keep-busy-times",
        left_out_, most_company_));
  }
  return notes;
}

std::optional<records::KernelRecord> TuningStore::find(const records::KernelKey& key) {
  std::optional<records::KernelRecord> record;
  if (store_) attempt([&] { record = store_->find(key); });
  return record;
}

void TuningStore::put(const records::KernelKey& key, const records::KernelRecord& record) {
  if (store_ && is_quiet()) attempt([&] { store_->put(key, record); });
}

std::vector<records::Comparison> TuningStore::comparisons(const records::PlanKey& key) {
  std::vector<records::Comparison> found;
  if (store_) attempt([&] { found = store_->comparisons(key); });
  return found;
}

void TuningStore::put(const records::PlanKey& key, const records::Comparison& comparison) {
  if (store_ && is_quiet()) attempt([&] { store_->put(key, comparison); });
}

std::optional<TunedPlan> TuningStore::plan(const records::PlanKey& key) {
  std::optional<std::string> bytes;
  if (store_) attempt([&] { bytes = store_->plan(key); });
  if (!bytes) return std::nullopt;
  return read_tuned_plan(*bytes, sealed_key(key), secret_);
}

void TuningStore::put_plan(const records::PlanKey& key, const TunedPlan& plan) {
  // A plan isn't recorded if times that chose it weren't.
  if (!store_ || left_out_ > 0) return;
  attempt([&] { store_->put_plan(key, write_tuned_plan(plan, sealed_key(key), secret_)); });
}

}  // namespace luminal

#include "luminal/driver/options/record_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"

namespace luminal {
namespace {

// In cores: less load from other programs hardly disturbs measurements.
constexpr double kMostCompany = 0.2;

}  // namespace

template <typename Work>
void RecordStore::attempt(const Work& work) {
  if (use_.required) return work();
  const auto give_up = [&](const std::exception& error) {
    notes_.push_back(
        fmt::format("tuning records are not used from here on, and nothing is added to them: {}",
                    error.what()));
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

RecordStore::RecordStore(const std::string& file, const records::Device& device,
                         const RecordUse& use)
    : use_(use) {
  if (file == "none") {
    if (use.required)
      throw UserError("replay: there are no records to replay; name a file of them");
    return;
  }
  attempt([&] {
    const std::filesystem::path path =
        file.empty() ? records::Store::default_file() : std::filesystem::path(file);
    try {
      store_ = records::Store::open(path);
      store_->put(device);
    } catch (const std::exception&) {
      if (!use_.or_reading) throw;
      store_ = records::Store::open(path, records::Mode::ReadOnly);
      only_reads_ = true;
    }
  });
}

bool RecordStore::is_quiet() {
  if (use_.keep_busy || !store_) return true;
  const double cores = company_.cores();
  if (cores <= kMostCompany) return true;
  most_company_ = std::max(most_company_, cores);
  ++left_out_;
  return false;
}

std::vector<std::string> RecordStore::notes() const {
  std::vector<std::string> notes = notes_;
  if (left_out_ > 0) {
    notes.push_back(
        fmt::format("{} times were measured while other programs used up to {:.1f} cores: this "
                    "compile uses them, but they aren't recorded; measure again when the machine "
                    "is idle, or with --keep-busy-times",
                    left_out_, most_company_));
  }
  return notes;
}

std::optional<records::KernelRecord> RecordStore::find(const records::KernelKey& key) {
  std::optional<records::KernelRecord> record;
  if (store_) attempt([&] { record = store_->find(key); });
  return record;
}

void RecordStore::put(const records::KernelKey& key, const records::KernelRecord& record) {
  if (store_ && !only_reads_ && is_quiet()) attempt([&] { store_->put(key, record); });
}

std::vector<records::Comparison> RecordStore::comparisons(const records::PlanKey& key) {
  std::vector<records::Comparison> found;
  if (store_) attempt([&] { found = store_->comparisons(key); });
  return found;
}

void RecordStore::put(const records::PlanKey& key, const records::Comparison& comparison) {
  if (store_ && !only_reads_ && is_quiet()) attempt([&] { store_->put(key, comparison); });
}

std::optional<std::string> RecordStore::plan_bytes(const records::PlanKey& key) {
  std::optional<std::string> bytes;
  if (store_) attempt([&] { bytes = store_->plan(key); });
  return bytes;
}

bool RecordStore::put_plan_bytes(const records::PlanKey& key, const std::string& bytes) {
  if (!store_ || only_reads_ || left_out_ > 0) return false;
  attempt([&] { store_->put_plan(key, bytes); });
  return store_.has_value();
}

}  // namespace luminal

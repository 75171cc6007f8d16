#include "luminal/records/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/records/device_rows.h"
#include "luminal/records/kernel_rows.h"
#include "luminal/records/plan_rows.h"
#include "luminal/records/store_impl.h"

namespace luminal::records {
namespace {

// A time of use is updated only if it is older than this: pruning counts in days.
constexpr int64_t kSecondsOfUse = 24 * 60 * 60;

// A UserError, since keys contain the user's graph.
template <typename Key>
void check_key(const Key& key) {
  if (const std::string why = why_refused(key); !why.empty()) {
    throw UserError(fmt::format("records: {}; compile a smaller graph, or without records", why));
  }
}

uint64_t bytes_of(const std::filesystem::path& file) {
  uint64_t bytes = 0;
  for (const char* ending : {"", "-wal"}) {
    std::error_code absent;
    const uintmax_t size = std::filesystem::file_size(file.string() + ending, absent);
    if (!absent) bytes += size;
  }
  return bytes;
}

}  // namespace

int64_t seconds_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

void Store::Impl::check_writable() const {
  if (mode == Mode::ReadWrite) return;
  throw UserError(fmt::format("records: '{}' was opened for reading only", file.string()));
}

void Store::Impl::forget_if_changed() {
  Query query(*db, "PRAGMA data_version");
  query.step();
  const int64_t version = query.integer_at(0);
  if (version != known_version) known.clear();
  known_version = version;
}

void Store::Impl::write_used() {
  const int64_t now = seconds_now();
  for (const KernelKey& key : used_kernels) touch_kernel(*db, key, now);
  for (const PlanKey& key : used_plans) touch_plan(*db, key, now);
  used_kernels.clear();
  used_plans.clear();
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store::~Store() {
  if (!impl_ || (impl_->used_kernels.empty() && impl_->used_plans.empty())) return;
  try {
    impl_->written([] {});
  } catch (const std::exception&) {
    // Only times of use are lost.
  }
}

Store Store::open(const std::filesystem::path& file, Mode mode) {
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  impl->mode = mode;
  impl->db = open_database(file, mode);
  return Store(std::move(impl));
}

std::filesystem::path Store::default_file() { return base::cache_folder() / "records.sqlite"; }

const std::filesystem::path& Store::file() const { return impl_->file; }

std::optional<KernelRecord> Store::find(const KernelKey& key) const {
  Impl& in = *impl_;
  return in.looked_up<std::optional<KernelRecord>>([&]() -> std::optional<KernelRecord> {
    in.forget_if_changed();
    const auto known = in.known.find(key);
    if (known != in.known.end()) return known->second;
    Found<KernelRecord> found = find_kernel(*in.db, key);
    if (!found.why_refused.empty()) ++in.refused;
    if (!found.record) return std::nullopt;
    const bool is_due = in.mode == Mode::ReadWrite && seconds_now() - found.used > kSecondsOfUse;
    if (is_due) in.used_kernels.push_back(key);
    in.known.emplace(key, *found.record);
    return found.record;
  });
}

void Store::put(const KernelKey& key, const KernelRecord& record) {
  check_key(key);
  impl_->written([&] {
    impl_->known.erase(key);
    put_kernel(*impl_->db, key, record, seconds_now());
  });
}

std::vector<KernelEntry> Store::kernels(const std::string& device,
                                        const std::string& compiler) const {
  return impl_->guarded([&] {
    std::vector<KernelEntry> found;
    const auto use = [&](KernelEntry&& entry, int64_t) {
      const bool is_asked = entry.key.device == device && entry.key.compiler == compiler;
      if (is_asked) found.push_back(std::move(entry));
    };
    each_kernel(*impl_->db, use, [](Refusal&&) {});
    return found;
  });
}

std::vector<Comparison> Store::comparisons(const PlanKey& key) const {
  Impl& in = *impl_;
  return in.looked_up<std::vector<Comparison>>(
      [&] { return find_comparisons(*in.db, key, [&](Refusal&&) { ++in.refused; }); });
}

void Store::put(const PlanKey& key, const Comparison& comparison) {
  check_key(key);
  impl_->written([&] { put_comparison(*impl_->db, key, comparison, seconds_now()); });
}

std::optional<std::string> Store::plan(const PlanKey& key) const {
  Impl& in = *impl_;
  return in.looked_up<std::optional<std::string>>([&]() -> std::optional<std::string> {
    Found<Champion> found = find_champion(*in.db, key);
    if (!found.why_refused.empty()) ++in.refused;
    if (!found.record) return std::nullopt;
    if (seconds_now() - found.used > kSecondsOfUse) {
      in.missed_use = in.mode == Mode::ReadOnly;
      if (in.mode == Mode::ReadWrite) in.used_plans.push_back(key);
    }
    return std::move(found.record->bytes);
  });
}

void Store::put_plan(const PlanKey& key, std::string_view champion_bytes) {
  check_key(key);
  Champion champion{.bytes = std::string(champion_bytes)};
  if (const std::string why = why_refused(champion); !why.empty()) {
    throw UserError(fmt::format("records: {}; compile a smaller graph, or without records", why));
  }
  impl_->written([&] {
    const Found<Champion> old = find_champion(*impl_->db, key);
    if (old.record) {
      const bool is_same = old.record->bytes == champion.bytes;
      champion.rank = std::min(old.record->rank + (is_same ? 0 : 1), kMostRank);
    }
    put_champion(*impl_->db, key, champion, seconds_now());
  });
}

void Store::put(const Device& device) {
  impl_->written([&] { put_device(*impl_->db, device); });
}

bool Store::missed_use() const {
  return impl_->guarded([&] { return impl_->missed_use; });
}

int64_t Store::refused() const {
  return impl_->guarded([&] { return impl_->refused; });
}

Stats Store::stats() const {
  return impl_->guarded([&] {
    Stats stats = count_rows(*impl_->db);
    stats.bytes = bytes_of(impl_->file);
    return stats;
  });
}

PruneResult Store::prune(const PruneOptions& options) {
  impl_->check_writable();
  return impl_->guarded([&] {
    const uint64_t before = bytes_of(impl_->file);
    PruneResult result = prune_rows(*impl_->db, options, seconds_now());
    impl_->known.clear();
    result.bytes_before = before;
    if (options.dry_run) return result;
    impl_->db->run("VACUUM");
    // Moves the log into the file itself, as far as readers allow.
    Query(*impl_->db, "PRAGMA wal_checkpoint(TRUNCATE)").run();
    result.bytes_after = bytes_of(impl_->file);
    return result;
  });
}

}  // namespace luminal::records

// Exchange of records between files: merging, export, import.
#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "luminal/base/errors.h"
#include "luminal/records/device_rows.h"
#include "luminal/records/kernel_rows.h"
#include "luminal/records/lines.h"
#include "luminal/records/plan_rows.h"
#include "luminal/records/store.h"
#include "luminal/records/store_impl.h"

namespace luminal::records {
namespace {

// Entries per transaction: enough to amortise its cost, few enough that others don't wait long.
constexpr size_t kEntriesAtOnce = 256;
constexpr size_t kBytesAtOnce = size_t{8} << 20;

// Approximate: counts only the fields that can be large.
size_t bytes_of(const Device& device) { return device.description.size(); }
size_t bytes_of(const KernelEntry& entry) { return entry.key.kernel.size(); }
size_t bytes_of(const PlanEntry& entry) {
  return entry.key.question.size() + (entry.champion ? entry.champion->bytes.size() : 0);
}

// A merge in progress, written in batches.
class Intake {
 public:
  explicit Intake(Connection& db) : db_(db) {}

  void add(Entry&& entry, int64_t used) {
    waiting_bytes_ += std::visit([](const auto& of) { return bytes_of(of); }, entry);
    waiting_.push_back({std::move(entry), used});
    if (waiting_.size() >= kEntriesAtOnce || waiting_bytes_ >= kBytesAtOnce) flush();
  }

  void refuse(Refusal&& refusal) {
    ++result_.refused;
    if (result_.refusals.size() < kMostRefusals) result_.refusals.push_back(std::move(refusal));
  }

  MergeResult finish() {
    flush();
    return std::move(result_);
  }

 private:
  struct Waiting {
    Entry entry;
    int64_t used;
  };

  void flush() {
    if (waiting_.empty()) return;
    Transaction transaction(db_);
    MergeResult now = result_;
    for (const Waiting& next : waiting_) {
      std::visit([&](const auto& of) { put(of, next.used, now); }, next.entry);
    }
    transaction.commit();
    result_ = std::move(now);
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  void put(const Device& device, int64_t, MergeResult& result) {
    result.devices.count(put_device(db_, device));
  }
  void put(const KernelEntry& entry, int64_t used, MergeResult& result) {
    result.kernels.count(put_kernel(db_, entry.key, entry.record, used));
  }
  void put(const PlanEntry& entry, int64_t used, MergeResult& result) {
    if (entry.champion) {
      result.plans.count(put_champion(db_, entry.key, *entry.champion, used));
    }
    for (const Comparison& of : entry.comparisons) {
      result.comparisons.count(put_comparison(db_, entry.key, of, used));
    }
  }

  Connection& db_;
  std::vector<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
  MergeResult result_;
};

// Visits every valid entry of a file; the others go to `refuse` with a reason.
void each_entry(Connection& db, const std::function<void(Entry&&, int64_t used)>& use,
                const std::function<void(Refusal&&)>& refuse) {
  const auto device = [&](Device&& of) { use(std::move(of), 0); };
  const auto kernel = [&](KernelEntry&& of, int64_t used) { use(std::move(of), used); };
  const auto plan = [&](PlanEntry&& of, int64_t used) { use(std::move(of), used); };
  scan_table("devices", [&] { each_device(db, device, refuse); }, refuse);
  scan_table("kernels", [&] { each_kernel(db, kernel, refuse); }, refuse);
  scan_table("plans", [&] { each_plan(db, plan, refuse); }, refuse);
}

}  // namespace

MergeResult Store::merge_from(const std::filesystem::path& file) {
  impl_->check_writable();
  std::error_code error;
  if (std::filesystem::equivalent(file, impl_->file, error)) {
    throw UserError(fmt::format("records: '{}' can't be merged into itself", file.string()));
  }
  Store from = open(file, Mode::ReadOnly);
  const int64_t now = seconds_now();
  return impl_->guarded([&] {
    Intake intake(*impl_->db);
    impl_->known.clear();
    // The machine that wrote the other file may have had a wrong clock.
    const auto use = [&](Entry&& entry, int64_t used) {
      intake.add(std::move(entry), std::clamp<int64_t>(used, 0, now));
    };
    each_entry(*from.impl_->db, use, [&](Refusal&& refusal) { intake.refuse(std::move(refusal)); });
    return intake.finish();
  });
}

std::vector<Refusal> Store::export_lines(std::ostream& out) const {
  return impl_->guarded([&] {
    std::vector<Refusal> refusals;
    out << header_line() << '\n';
    each_entry(
        *impl_->db, [&](Entry&& entry, int64_t) { out << line_of(entry) << '\n'; },
        [&](Refusal&& refusal) { refusals.push_back(std::move(refusal)); });
    return refusals;
  });
}

MergeResult Store::import_lines(std::istream& in, const std::string& source) {
  impl_->check_writable();
  std::string line;
  read_line(in, line);
  check_header(line, source);
  const int64_t now = seconds_now();
  return impl_->guarded([&] {
    Intake intake(*impl_->db);
    impl_->known.clear();
    for (int64_t number = 2; read_line(in, line); ++number) {
      Result<Entry> entry = parse_line(line);
      if (entry) {
        intake.add(std::move(*entry), now);
      } else {
        intake.refuse({fmt::format("line {}", number), entry.why()});
      }
    }
    return intake.finish();
  });
}

}  // namespace luminal::records

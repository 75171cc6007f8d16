#include "luminal/records/kernel_rows.h"

#include <algorithm>
#include <climits>

#include "luminal/base/check.h"
#include "luminal/records/text_rows.h"

namespace luminal::records {
namespace {

// Reads the columns from seconds to sum, which start at `first`.
KernelRecord record_at(const Query& row, int first) {
  return {
      .seconds = row.real_at(first),
      .low = row.real_at(first + 1),
      .high = row.real_at(first + 2),
      .samples = static_cast<int>(std::clamp<int64_t>(row.integer_at(first + 3), INT_MIN, INT_MAX)),
      .checked = row.integer_at(first + 4) != 0,
      .note = row.bytes(first + 5)};
}

std::string why_refused_row(const RowKey& key, const KernelRecord& record, const std::string& sum) {
  if (sum_of(key, record) != sum) return "its checksum doesn't match";
  return why_refused(record);
}

}  // namespace

Found<KernelRecord> find_kernel(Connection& db, const KernelKey& key) {
  const RowKey at = row_key(key);
  Query row(db,
            "SELECT seconds, low, high, samples, checked, note, sum, used FROM kernels "
            "WHERE kernel = ? AND device = ? AND compiler = ?");
  row.text(at.subject).text(at.device).text(at.compiler);
  if (!row.step()) return {};
  KernelRecord record = record_at(row, 0);
  std::string why = why_refused_row(at, record, row.bytes(6));
  if (why.empty() && !has_texts(db, at, key.kernel, key.device, key.compiler)) {
    why = "its texts don't match its key";
  }
  if (!why.empty()) return {.why_refused = std::move(why)};
  return {.record = std::move(record), .used = row.integer_at(7)};
}

Outcome put_kernel(Connection& db, const KernelKey& key, const KernelRecord& record, int64_t used) {
  const std::string why_not = why_refused(key) + why_refused(record);
  LUMINAL_CHECK(why_not.empty(), "an invalid record can't be written: " + why_not);
  const Found<KernelRecord> old = find_kernel(db, key);
  if (old.record && !supersedes(record, *old.record)) {
    if (used > old.used) touch_kernel(db, key, used);
    return Outcome::Kept;
  }
  const RowKey at = row_key(key);
  store_text(db, at.subject, key.kernel);
  store_text(db, at.device, key.device);
  store_text(db, at.compiler, key.compiler);
  const std::string sum = sum_of(at, record);
  Query query(
      db,
      "INSERT OR REPLACE INTO kernels(kernel, device, compiler, seconds, low, high, samples, "
      "checked, note, sum, used) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.text(at.subject).text(at.device).text(at.compiler);
  query.real(record.seconds).real(record.low).real(record.high);
  query.integer(record.samples).integer(record.checked).blob(record.note);
  query.text(sum).integer(std::max(used, old.used)).run();
  return old.record ? Outcome::Replaced : Outcome::Added;
}

void touch_kernel(Connection& db, const KernelKey& key, int64_t used) {
  const RowKey at = row_key(key);
  Query query(db, "UPDATE kernels SET used = ? WHERE kernel = ? AND device = ? AND compiler = ?");
  query.integer(used).text(at.subject).text(at.device).text(at.compiler).run();
}

void each_kernel(Connection& db, const std::function<void(KernelEntry&&, int64_t used)>& use,
                 const std::function<void(Refusal&&)>& refuse) {
  Query row(
      db,
      "SELECT kernel, device, compiler, seconds, low, high, samples, checked, note, sum, used "
      "FROM kernels ORDER BY kernel, device, compiler");
  while (row.step()) {
    const RowKey at{row.bytes(0), row.bytes(1), row.bytes(2)};
    KernelRecord record = record_at(row, 3);
    std::string why = why_refused_row(at, record, row.bytes(9));
    std::optional<std::string> kernel, device, compiler;
    if (why.empty()) {
      kernel = find_text(db, at.subject);
      device = find_text(db, at.device);
      compiler = find_text(db, at.compiler);
      if (!kernel || !device || !compiler) why = "a text of its key is absent or damaged";
    }
    if (why.empty()) {
      use({{*std::move(kernel), *std::move(device), *std::move(compiler)}, std::move(record)},
          row.integer_at(10));
    } else {
      refuse({row_name("kernel", at.subject), std::move(why)});
    }
  }
}

}  // namespace luminal::records

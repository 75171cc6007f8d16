#include "luminal/records/row_key.h"

#include <fmt/format.h>

#include "luminal/base/byte_stream.h"
#include "luminal/base/digest.h"
#include "luminal/base/text/json_text.h"

namespace luminal::records {
namespace {

base::ByteWriter begun_with(std::string_view kind, const RowKey& key) {
  base::ByteWriter out;
  for (std::string_view text : {kind, std::string_view(key.subject), std::string_view(key.device),
                                std::string_view(key.compiler)}) {
    out.text(text);
  }
  return out;
}

}  // namespace

RowKey row_key(const KernelKey& key) {
  return {base::digest(key.kernel), base::digest(key.device), base::digest(key.compiler)};
}

RowKey row_key(const PlanKey& key) {
  return {base::digest(key.question), base::digest(key.device), base::digest(key.compiler)};
}

std::string sum_of(const RowKey& key, const KernelRecord& record) {
  base::ByteWriter out = begun_with("kernel", key);
  for (double value : {record.seconds, record.low, record.high}) out.real(value);
  out.integer(record.samples);
  out.flag(record.checked);
  out.text(record.note);
  return base::digest(out.bytes());
}

std::string sum_of(const RowKey& key, const Comparison& comparison) {
  base::ByteWriter out = begun_with("comparison", key);
  out.text(comparison.champion);
  out.text(comparison.challenger);
  for (double value : {comparison.ratio, comparison.low, comparison.high}) out.real(value);
  out.integer(comparison.rounds);
  return base::digest(out.bytes());
}

std::string sum_of(const RowKey& key, const std::string& plan_digest, int64_t rank) {
  base::ByteWriter out = begun_with("plan", key);
  out.text(plan_digest);
  out.integer(rank);
  return base::digest(out.bytes());
}

std::string row_name(std::string_view kind, std::string_view subject_digest) {
  // A damaged file may hold anything in place of a digest.
  const std::string quoted = base::json_quoted(subject_digest.substr(0, 12));
  return fmt::format("{} {}…", kind, quoted.substr(1, quoted.size() - 2));
}

}  // namespace luminal::records

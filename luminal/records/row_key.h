// RowKey: where a record stands, by digests of its key's texts, and the digest of a row's content.
#pragma once

#include <string>

#include "luminal/records/record.h"

namespace luminal::records {

struct RowKey {
  std::string subject;  // of the kernel or the question
  std::string device;
  std::string compiler;
};

RowKey row_key(const KernelKey& key);
RowKey row_key(const PlanKey& key);

// A digest over all of a row but when it was used: a row in which anything else was changed by
// accident is told by it. Not against an enemy, who can compute it too.
std::string sum_of(const RowKey& key, const KernelRecord& record);
std::string sum_of(const RowKey& key, const Comparison& comparison);
// The plan itself stands under its digest.
std::string sum_of(const RowKey& key, const std::string& plan_digest, int64_t rank);

// How messages name a row: "kernel 0123456789ab…".
std::string row_name(std::string_view kind, std::string_view subject_digest);

}  // namespace luminal::records

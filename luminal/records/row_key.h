// RowKey: the primary key of a row, made of digests of its key's texts; and checksums of rows.
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

// A checksum over a row without its time of use. It detects accidental damage, not an attacker, who
// can compute it too.
std::string sum_of(const RowKey& key, const KernelRecord& record);
std::string sum_of(const RowKey& key, const Comparison& comparison);
// The plan itself is stored under its digest.
std::string sum_of(const RowKey& key, const std::string& plan_digest, int64_t rank);

// How messages name a row: "kernel 0123456789ab…".
std::string row_name(std::string_view kind, std::string_view subject_digest);

}  // namespace luminal::records

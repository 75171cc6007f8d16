// What planning adds to a report, as bytes: what is kept of it beside the plan.
#pragma once

#include <cstddef>
#include <vector>

#include "luminal/base/byte_stream.h"
#include "luminal/driver/report.h"

namespace luminal {

// How much a report held before planning added to it.
class ReportMark {
 public:
  explicit ReportMark(const CompileReport& report);
  // Takes back what was added since.
  void forget_since(CompileReport& report) const;

 private:
  friend void write_report(base::ByteWriter& out, const CompileReport& report,
                           const ReportMark& mark);
  std::vector<size_t> sizes_;  // of its lists, in the order of the table
};

// What planning added since `mark`: the fields that report_fields.h keeps. Without times, which are
// each compile's own, and without the text of kernels, which the plan has.
void write_report(base::ByteWriter& out, const CompileReport& report, const ReportMark& mark);
// Adds it to a report. ByteError for bytes that aren't such.
void read_report(base::ByteReader& in, CompileReport& report);

}  // namespace luminal

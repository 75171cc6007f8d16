// What planning adds to a report, as bytes: what is kept of it beside the plan.
#pragma once

#include "luminal/base/byte_stream.h"
#include "luminal/driver/report.h"

namespace luminal {

// How much a report held before planning added to it.
struct ReportMark {
  explicit ReportMark(const CompileReport& report)
      : stages(report.stages.size()),
        rules(report.rules.size()),
        kernels(report.kernels.size()),
        stored(report.stored.size()),
        searches(report.searches.size()),
        notes(report.notes.size()) {}
  // Takes back what was added since.
  void forget_since(CompileReport& report) const;
  size_t stages, rules, kernels, stored, searches, notes;
};

// What planning added since `mark`, but for times, which are each compile's own, and for the text
// of kernels, which the plan has.
void write_report(base::ByteWriter& out, const CompileReport& report, const ReportMark& mark);
// Adds it to a report. ByteError for bytes that aren't such.
void read_report(base::ByteReader& in, CompileReport& report);

}  // namespace luminal

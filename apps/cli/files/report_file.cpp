#include "apps/cli/files/report_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/driver/report/report_fields.h"
#include "luminal/io/file/json_fault.h"

namespace luminal::cli {
namespace {

using ReportJson = nlohmann::json;

template <typename Report>
void read_fields(const ReportJson& from, Report& report);

template <typename Value>
void read_field(const ReportJson& from, Value& value) {
  if constexpr (ReportList<Value>) {
    for (const ReportJson& report : from) read_fields(report, value.emplace_back());
  } else {
    from.get_to(value);
  }
}

// All that the report's table has in JSON; throws where one is missing.
template <typename Report>
void read_fields(const ReportJson& from, Report& report) {
  for_each_field<Report>([&]<typename Field>(const Field& field) {
    if constexpr (Field::in_json) read_field(from.at(field.name), report.*field.member);
  });
}

}  // namespace

bool looks_like_report(const std::string& text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string::npos && text[start] == '{';
}

CompileReport parse_report(const std::string& text, const std::string& name) {
  CompileReport report;
  try {
    read_fields(ReportJson::parse(text), report);
  } catch (const ReportJson::exception& error) {
    throw UserError(fmt::format(
        "'{}' is not a report of this version: {}; write it with `luminal compile --report-json`",
        name, io::json_fault(error.what())));
  }
  for (const PlanReport& plan : report.plans) {
    const size_t n = report.kernels.size();
    if (plan.first_kernel > n || plan.n_kernels > n - plan.first_kernel) {
      throw UserError(
          fmt::format("'{}' is not a complete report: a plan has kernels that it doesn't list; "
                      "write it with `luminal compile --report-json`",
                      name));
    }
  }
  return report;
}

}  // namespace luminal::cli

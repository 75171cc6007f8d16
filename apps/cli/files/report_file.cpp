#include "apps/cli/files/report_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/io/file/json_fault.h"

namespace luminal::cli {
namespace {

using ReportJson = nlohmann::json;

template <typename T>
void read(const ReportJson& from, const char* key, T& to) {
  from.at(key).get_to(to);
}

PlanReport plan_of(const ReportJson& from) {
  PlanReport plan;
  read(from, "variant", plan.variant);
  read(from, "sizes", plan.sizes);
  read(from, "first_kernel", plan.first_kernel);
  read(from, "n_kernels", plan.n_kernels);
  read(from, "model_us", plan.model_us);
  return plan;
}

RivalReport rival_of(const ReportJson& from) {
  RivalReport rival;
  read(from, "value", rival.value);
  read(from, "extra_us", rival.extra_us);
  read(from, "why", rival.why);
  return rival;
}

KernelReport kernel_of(const ReportJson& from) {
  KernelReport kernel;
  for (auto& [key, text] :
       {std::pair("name", &kernel.name), std::pair("title", &kernel.title),
        std::pair("result", &kernel.result), std::pair("library", &kernel.library),
        std::pair("why_no_library", &kernel.why_no_library), std::pair("text", &kernel.text)}) {
    read(from, key, *text);
  }
  for (auto& [key, list] :
       {std::pair("ops", &kernel.ops), std::pair("nodes", &kernel.nodes),
        std::pair("rules", &kernel.rules), std::pair("slow_paths", &kernel.slow_paths)}) {
    read(from, key, *list);
  }
  for (auto& [key, figure] :
       {std::pair("model_us", &kernel.model_us), std::pair("model_bytes", &kernel.model_bytes),
        std::pair("model_flops", &kernel.model_flops), std::pair("bytes_us", &kernel.bytes_us),
        std::pair("flops_us", &kernel.flops_us), std::pair("launch_us", &kernel.launch_us),
        std::pair("measured_us", &kernel.measured_us),
        std::pair("measured_low_us", &kernel.measured_low_us),
        std::pair("measured_high_us", &kernel.measured_high_us),
        std::pair("own_us", &kernel.own_us), std::pair("library_us", &kernel.library_us)}) {
    read(from, key, *figure);
  }
  read(from, "packs", kernel.packs);
  read(from, "launch", kernel.launch);
  read(from, "by_library", kernel.by_library);
  for (const ReportJson& rival : from.at("rivals")) kernel.rivals.push_back(rival_of(rival));
  return kernel;
}

StoredReport stored_of(const ReportJson& from) {
  StoredReport stored;
  read(from, "value", stored.value);
  read(from, "type", stored.type);
  read(from, "kernel", stored.kernel);
  read(from, "readers", stored.readers);
  read(from, "because", stored.because);
  read(from, "why", stored.why);
  read(from, "extra_us", stored.extra_us);
  return stored;
}

}  // namespace

bool looks_like_report(const std::string& text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string::npos && text[start] == '{';
}

CompileReport parse_report(const std::string& text, const std::string& name) {
  CompileReport report;
  try {
    const ReportJson from = ReportJson::parse(text);
    read(from, "target", report.target);
    read(from, "graph", report.graph);
    read(from, "notes", report.notes);
    for (const ReportJson& plan : from.at("plans")) report.plans.push_back(plan_of(plan));
    for (const ReportJson& kernel : from.at("kernels")) report.kernels.push_back(kernel_of(kernel));
    for (const ReportJson& value : from.at("stored")) report.stored.push_back(stored_of(value));
  } catch (const ReportJson::exception& error) {
    throw UserError(fmt::format(
        "'{}' is no report of this version: {}; write it with `luminal compile --report-json`",
        name, io::json_fault(error.what())));
  }
  for (const PlanReport& plan : report.plans) {
    const size_t n = report.kernels.size();
    if (plan.first_kernel > n || plan.n_kernels > n - plan.first_kernel) {
      throw UserError(
          fmt::format("'{}' is no whole report: a plan has kernels that it doesn't "
                      "list; write it with `luminal compile --report-json`",
                      name));
    }
  }
  return report;
}

}  // namespace luminal::cli

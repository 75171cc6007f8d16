#include "apps/inspect/debug/debug_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/text/json_text.h"

namespace luminal::debug {
namespace {

const char* name_of(DebugStage::Status status) {
  switch (status) {
    case DebugStage::Status::Ok:
      return "ok";
    case DebugStage::Status::Fault:
      return "fault";
    case DebugStage::Status::Skipped:
      return "skipped";
  }
  return "";
}

// The first line follows the bullet, the others are indented below it.
std::string indented(const std::string& text, const char* by) {
  std::string out;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    out += by + text.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return out;
}

}  // namespace

Finding& DebugStage::blame(const std::string& cause) {
  status = Status::Fault;
  causes.push_back(Finding{}.add("cause", cause).add("stage", name).add("plan", plan));
  return causes.back();
}

DebugStage& DebugReport::begin(const std::string& stage, const std::string& plan) {
  stages.push_back({.name = stage, .plan = plan, .summary = {}, .seen = {}, .causes = {}});
  return stages.back();
}

DebugStage& DebugReport::skip(const std::string& stage, const std::string& plan,
                              const std::string& why) {
  DebugStage& made = begin(stage, plan);
  made.status = DebugStage::Status::Skipped;
  made.summary = why;
  return made;
}

size_t DebugReport::n_causes() const {
  size_t count = 0;
  for (const DebugStage& stage : stages) count += stage.causes.size();
  return count;
}

const Finding* DebugReport::first_cause() const {
  for (const DebugStage& stage : stages) {
    if (!stage.causes.empty()) return &stage.causes.front();
  }
  return nullptr;
}

std::string json(const DebugReport& report) {
  base::JsonText json;
  json.begin_object();
  json.field("name", report.name);
  json.field("target", report.target);
  json.field("sizes", report.sizes);
  json.key("causes");
  json.begin_array();
  for (const DebugStage& stage : report.stages) {
    for (const Finding& cause : stage.causes) write(json, cause);
  }
  json.end_array();
  json.key("stages");
  json.begin_array();
  for (const DebugStage& stage : report.stages) {
    json.begin_object();
    json.field("stage", stage.name);
    json.field("plan", stage.plan);
    json.field("status", name_of(stage.status));
    json.field("summary", stage.summary);
    json.key("seen");
    json.begin_array();
    for (const Finding& seen : stage.seen) write(json, seen);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string text(const DebugReport& report, bool all) {
  std::string out =
      fmt::format("{}{}{}\n", report.name, report.sizes.empty() ? "" : ", ", report.sizes);
  for (const DebugStage& stage : report.stages) {
    out += fmt::format("  {:<7} {:<8} {}{}{}\n", stage.name, name_of(stage.status), stage.plan,
                       stage.plan.empty() ? "" : ": ", stage.summary);
    for (const Finding& cause : stage.causes) out += indented(search::text(cause), "      ");
    for (const Finding& seen : stage.seen) {
      const bool said = !seen.at("remark").empty() || !seen.at("note").empty();
      if (all || said) out += indented(search::text(seen), "      ");
    }
  }
  if (report.n_causes() == 0) out += "nothing is wrong\n";
  return out;
}

}  // namespace luminal::debug

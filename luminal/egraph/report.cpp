#include "luminal/egraph/report.h"

#include "luminal/base/check.h"

#include <cstdio>

namespace luminal::egraph {
namespace {

std::string milliseconds(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", seconds * 1e3);
  return buffer;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::Finished:
      return "finished";
    case StopReason::NodeLimit:
      return "stopped at the limit of nodes";
    case StopReason::MatchLimit:
      return "stopped at the limit of matches per rule";
    case StopReason::IterationLimit:
      return "stopped at the limit of iterations";
    case StopReason::TimeLimit:
      return "stopped at the limit of time";
  }
  LUMINAL_CHECK(false, "unknown reason to stop");
}

std::string RunReport::summary() const {
  std::string line = name_of(stop);
  if (!culprit.empty()) line += ", look at rule '" + culprit + "'";
  return line + ": " + std::to_string(iterations.size()) + " iterations, " +
         std::to_string(tuples) + " tuples, " + std::to_string(classes) + " classes";
}

std::string RunReport::text(bool with_times) const {
  std::string out = summary() + "\n";
  if (with_times) {
    out += "search " + milliseconds(search_seconds) + " ms, actions " +
           milliseconds(apply_seconds) + " ms, rebuild " + milliseconds(rebuild_seconds) + " ms\n";
  }
  out += "   matches new tuples     unions";
  out += with_times ? "         ms  rule\n" : "  rule\n";
  for (const RuleReport& rule : rules) {
    if (rule.matches == 0) continue;
    out += padded(std::to_string(rule.matches), 10) + " " +
           padded(std::to_string(rule.new_tuples), 10) + " " +
           padded(std::to_string(rule.unions), 10);
    if (with_times) out += " " + padded(milliseconds(rule.seconds), 10);
    out += "  " + rule.name + "\n";
  }
  return out;
}

}  // namespace luminal::egraph

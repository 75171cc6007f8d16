// Compares two reports of debug-ops.
#pragma once

#include <string>
#include <vector>

namespace luminal::debug {

struct StageDifference {
  std::string stage;
  std::string plan;
  size_t items = 0;   // that differ, or are only in one report
  std::string item;   // the first of them: "step: kernel 1"
  std::string field;  // its first field that differs; empty if one report lacks the item
  std::string a, b;   // the two values
};

// Compares the texts of two reports, whose names are for messages: the stages that differ, in
// order. UserError for an invalid report.
std::vector<StageDifference> compare_reports(const std::string& a, const std::string& a_name,
                                             const std::string& b, const std::string& b_name);

// The first difference in full, the others by their number of items.
std::string text(const std::vector<StageDifference>& differences, const std::string& a_name,
                 const std::string& b_name);

}  // namespace luminal::debug

// Two reports of debug-ops, and where they part.
#pragma once

#include <string>
#include <vector>

namespace luminal::debug {

struct StageDifference {
  std::string stage;
  std::string plan;
  size_t items = 0;   // that differ, or that one of them alone has
  std::string item;   // the first of them: "step: kernel 1"
  std::string field;  // of it, that differs; empty where one hasn't got the item
  std::string a, b;   // what each has
};

// Of the texts of two reports, under the names that messages give them: the stages that differ, in
// order. UserError for what isn't a report.
std::vector<StageDifference> compare_reports(const std::string& a, const std::string& a_name,
                                             const std::string& b, const std::string& b_name);

// The first in full, the others by their number of items.
std::string text(const std::vector<StageDifference>& differences, const std::string& a_name,
                 const std::string& b_name);

}  // namespace luminal::debug

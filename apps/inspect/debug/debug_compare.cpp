#include "apps/inspect/debug/debug_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"

namespace luminal::debug {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const std::string& text, const std::string& name) {
  const Json report = Json::parse(text, nullptr, false);
  if (!report.is_object() || !report.contains("stages") || !report.contains("causes")) {
    throw UserError(fmt::format(
        "{} is not a report of debug-ops; `luminal debug-ops GRAPH --json FILE` writes one", name));
  }
  return report;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "step: kernel 1": the first field of an item.
std::string title(const Json& item) {
  if (!item.is_object() || item.empty()) return plain(item);
  return item.begin().key() + ": " + plain(item.begin().value());
}

// Records the first differing field in `into`.
void compare_items(const Json& a, const Json& b, StageDifference& into) {
  into.item = title(a);
  for (const auto& [key, value] : a.items()) {
    if (b.contains(key) && b[key] == value) continue;
    into.field = key;
    into.a = plain(value);
    into.b = b.contains(key) ? plain(b[key]) : "nothing";
    return;
  }
  for (const auto& [key, value] : b.items()) {
    if (a.contains(key)) continue;
    into.field = key;
    into.a = "nothing";
    into.b = plain(value);
    return;
  }
}

StageDifference compare_stages(const Json& a, const Json& b) {
  StageDifference difference;
  difference.stage = plain(a["stage"]);
  difference.plan = plain(a["plan"]);
  const Json &ours = a["seen"], &theirs = b["seen"];
  const size_t most = std::max(ours.size(), theirs.size());
  for (size_t i = 0; i < most; ++i) {
    const bool both = i < ours.size() && i < theirs.size();
    if (both && ours[i] == theirs[i]) continue;
    if (difference.items++ > 0) continue;
    if (both) {
      compare_items(ours[i], theirs[i], difference);
    } else {
      difference.item = title(i < ours.size() ? ours[i] : theirs[i]);
      difference.a = i < ours.size() ? "there" : "not there";
      difference.b = i < theirs.size() ? "there" : "not there";
    }
  }
  for (const char* field : {"status", "summary"}) {
    if (difference.items > 0 || a[field] == b[field]) continue;
    difference.items = 1;
    difference.item = "the stage";
    difference.field = field;
    difference.a = plain(a[field]);
    difference.b = plain(b[field]);
  }
  return difference;
}

}  // namespace

std::vector<StageDifference> compare_reports(const std::string& a, const std::string& a_name,
                                             const std::string& b, const std::string& b_name) {
  const Json ours = parsed(a, a_name), theirs = parsed(b, b_name);
  std::vector<StageDifference> all;
  const Json &first = ours["stages"], &second = theirs["stages"];
  for (size_t s = 0; s < std::max(first.size(), second.size()); ++s) {
    if (s < first.size() && s < second.size()) {
      StageDifference difference = compare_stages(first[s], second[s]);
      if (difference.items > 0) all.push_back(std::move(difference));
      continue;
    }
    const Json& one = s < first.size() ? first[s] : second[s];
    all.push_back({.stage = plain(one["stage"]),
                   .plan = plain(one["plan"]),
                   .items = 1,
                   .item = "the stage",
                   .field = {},
                   .a = s < first.size() ? "there" : "not there",
                   .b = s < second.size() ? "there" : "not there"});
  }
  return all;
}

std::string text(const std::vector<StageDifference>& differences, const std::string& a_name,
                 const std::string& b_name) {
  if (differences.empty()) return fmt::format("{} and {} are equal\n", a_name, b_name);
  const StageDifference& first = differences.front();
  std::string out = fmt::format("they first differ in stage '{}'{}, at {}\n", first.stage,
                                first.plan.empty() ? "" : " of " + first.plan, first.item);
  if (!first.field.empty()) out += fmt::format("  {}\n", first.field);
  out += fmt::format("    {}: {}\n    {}: {}\n", a_name, first.a, b_name, first.b);
  for (const StageDifference& one : differences) {
    out += fmt::format("  {}{}{}: {} items differ\n", one.stage, one.plan.empty() ? "" : " of ",
                       one.plan, one.items);
  }
  return out;
}

}  // namespace luminal::debug

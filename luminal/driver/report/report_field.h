// ReportField: a member of a report, with its name and the forms it is written in.
// report_fields.h lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace luminal {

enum class FieldForms : uint8_t {
  JsonAndBytes,
  Json,  // not kept beside a plan: each compile finds it anew, or the plan has it
  None,  // in memory alone: made on request, or read by tools of this process
};

// A line of its own in CompileReport::text(), "label: value", if the value isn't empty or 0.
struct TextLine {
  const char* label = nullptr;  // null: no such line
  bool per_item = false;        // of a list: a line for each item; else one line, with commas
};

template <FieldForms forms, typename Report, typename Value>
struct ReportField {
  static constexpr bool in_json = forms != FieldForms::None;
  static constexpr bool in_bytes = forms == FieldForms::JsonAndBytes;
  const char* name;  // the key in JSON
  Value Report::* member;
  TextLine line;
};

// The rows of a table.
template <typename Report, typename Value>
constexpr auto json_and_bytes(const char* name, Value Report::* member, TextLine line = {}) {
  return ReportField<FieldForms::JsonAndBytes, Report, Value>{name, member, line};
}
template <typename Report, typename Value>
constexpr auto json_only(const char* name, Value Report::* member, TextLine line = {}) {
  return ReportField<FieldForms::Json, Report, Value>{name, member, line};
}
template <typename Report, typename Value>
constexpr auto not_written(const char* name, Value Report::* member) {
  return ReportField<FieldForms::None, Report, Value>{name, member, {}};
}

constexpr TextLine text_line(const char* label) { return {label, false}; }
constexpr TextLine text_lines(const char* label) { return {label, true}; }

// The table of a report: a tuple of ReportField, in the order in which they are written.
template <typename Report>
inline constexpr auto kReportFields = nullptr;

// Calls `visit` with each ReportField.
template <typename Report, typename Visit>
constexpr void for_each_field(Visit visit) {
  std::apply([&](const auto&... fields) { (visit(fields), ...); }, kReportFields<Report>);
}

// The name of a member in JSON.
template <typename Report, typename Value>
constexpr const char* field_name(Value Report::* member) {
  const char* name = nullptr;
  for_each_field<Report>([&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field.member), Value Report::*>) {
      if (field.member == member) name = field.name;
    }
  });
  return name;
}

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
concept ReportList = kIsList<T> && !std::is_same_v<T, std::vector<std::string>>;

// Converts to the type of any member; only named where nothing is evaluated.
struct AnyMember {
  template <typename T>
  operator T() const;
};

// How many members an aggregate has: the most initialisers that it takes.
template <typename Report, typename... Members>
consteval size_t n_members() {
  if constexpr (requires { Report{Members{}..., AnyMember{}}; }) {
    return n_members<Report, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

template <typename Report>
inline constexpr bool kListsAllMembers =
    std::tuple_size_v<std::remove_const_t<decltype(kReportFields<Report>)>> == n_members<Report>();

}  // namespace luminal

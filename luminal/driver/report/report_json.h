// Reports as JSON, by the tables of their fields.
#pragma once

#include "luminal/base/text/json_text.h"
#include "luminal/driver/report/report_fields.h"

namespace luminal {

template <typename Report>
void write_fields(base::JsonText& json, const Report& report);

// An object on one line.
template <typename Report>
void write_report_object(base::JsonText& json, const Report& report) {
  json.begin_object(base::JsonText::Layout::OnOneLine);
  write_fields(json, report);
  json.end_object();
}

template <typename Value>
void write_field(base::JsonText& json, const char* key, const Value& value) {
  if constexpr (ReportList<Value>) {
    json.key(key);
    json.begin_array();
    for (const auto& report : value) write_report_object(json, report);
    json.end_array();
  } else {
    json.field(key, value);
  }
}

// All fields, into the object that is open.
template <typename Report>
void write_fields(base::JsonText& json, const Report& report) {
  for_each_field<Report>([&]<typename Field>(const Field& field) {
    if constexpr (Field::in_json) write_field(json, field.name, report.*field.member);
  });
}

// Some members in this order, by the names that they have in the report.
template <typename Report, typename... Values>
void write_members(base::JsonText& json, const Report& report, Values Report::*... members) {
  (write_field(json, field_name(members), report.*members), ...);
}

}  // namespace luminal

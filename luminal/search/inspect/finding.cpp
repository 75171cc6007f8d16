#include "luminal/search/inspect/finding.h"

#include <fmt/format.h>

#include "luminal/base/text/json_text.h"

namespace luminal::search {

Finding& Finding::add(const std::string& name, std::string value) {
  if (!value.empty()) fields.emplace_back(name, std::move(value));
  return *this;
}

Finding& Finding::add(const std::string& name, std::vector<std::string> values) {
  if (!values.empty()) fields.emplace_back(name, std::move(values));
  return *this;
}

const std::string& Finding::at(const std::string& name) const {
  static const std::string none;
  for (const auto& [key, value] : fields) {
    if (key == name && std::holds_alternative<std::string>(value)) {
      return std::get<std::string>(value);
    }
  }
  return none;
}

std::string text(const Finding& finding) {
  std::string out;
  for (const auto& [name, value] : finding.fields) {
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    if (list == nullptr) {
      out += fmt::format("{}{}: {}\n", out.empty() ? "" : "  ", name, std::get<std::string>(value));
      continue;
    }
    for (const std::string& item : *list) out += fmt::format("  {}: {}\n", name, item);
  }
  return out;
}

void write(base::JsonText& json, const Finding& finding) {
  json.begin_object();
  for (const auto& [name, value] : finding.fields) {
    json.key(name);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
      json.begin_array();
      for (const std::string& item : *list) json.value(item);
      json.end_array();
    } else {
      json.value(std::get<std::string>(value));
    }
  }
  json.end_object();
}

}  // namespace luminal::search

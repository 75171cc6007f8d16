// Finding: one result of an inspection as named fields, the same for people and programs.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace luminal::base {
class JsonText;
}

namespace luminal::search {

struct Finding {
  using Value = std::variant<std::string, std::vector<std::string>>;
  std::vector<std::pair<std::string, Value>> fields;

  // Empty values aren't added.
  Finding& add(const std::string& name, std::string value);
  Finding& add(const std::string& name, std::vector<std::string> values);
  // The value of a text field; empty if there is none.
  const std::string& at(const std::string& name) const;
};

// The first field as a heading, the others below it.
std::string text(const Finding& finding);
// An object of strings and lists of strings.
void write(base::JsonText& json, const Finding& finding);

}  // namespace luminal::search

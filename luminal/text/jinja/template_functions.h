// The filters, tests and methods of chat templates, by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/text/jinja/template_budget.h"
#include "luminal/text/jinja/template_value.h"

namespace luminal::tokens {

struct TemplateArguments {
  std::vector<TemplateValue> values;
  std::vector<std::pair<std::string, TemplateValue>> named;

  // By position or by name; null if missing.
  const TemplateValue* get(size_t place, std::string_view name) const;
  std::string text(size_t place, std::string_view name, const std::string& otherwise) const;
  MarkedText marked_text(size_t place, std::string_view name) const;  // empty if missing
  int64_t integer(size_t place, std::string_view name, int64_t otherwise) const;
};

// value | name(…). UserError for an unknown name.
TemplateValue apply_filter(std::string_view name, const TemplateValue& value,
                           const TemplateArguments& arguments, TemplateBudget& budget);
// value is name(…).
bool apply_test(std::string_view name, const TemplateValue& value,
                const TemplateArguments& arguments, TemplateBudget& budget);
// value.name(…), for strings, dicts and lists; nullopt if there is no such method.
std::optional<TemplateValue> call_method(const TemplateValue& value, std::string_view name,
                                         const TemplateArguments& arguments,
                                         TemplateBudget& budget);
// Whether this attribute of a dict is a method, whatever its keys.
bool is_dict_method(std::string_view name);

// What a loop iterates over: items, keys of a dict, characters of a string; nothing if undefined.
TemplateList iterated(const TemplateValue& value, TemplateBudget& budget);
// len(): items, or characters of a string.
int64_t length_of(const TemplateValue& value, const TemplateBudget& budget);
// a < b, for numbers and strings.
bool less(const TemplateValue& a, const TemplateValue& b, const TemplateBudget& budget);
// a == b; the comparison is charged to the budget.
bool same(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);
bool contains(const TemplateValue& container, const TemplateValue& item, TemplateBudget& budget);
// An attribute lookup: a key of a dict, or undefined.
TemplateValue attribute_of(const TemplateValue& value, std::string_view name,
                           const TemplateBudget& budget);
// strip() and trim: removes white space, or the given characters, at one or both ends.
MarkedText stripped(const MarkedText& text, const std::optional<std::string>& characters, bool left,
                    bool right);

}  // namespace luminal::tokens

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

  // By place or by name; null where it isn't given.
  const TemplateValue* get(size_t place, std::string_view name) const;
  std::string text(size_t place, std::string_view name, const std::string& otherwise) const;
  MarkedText marked_text(size_t place, std::string_view name) const;  // empty where it isn't given
  int64_t integer(size_t place, std::string_view name, int64_t otherwise) const;
};

// value | name(…). An unknown name fails.
TemplateValue apply_filter(std::string_view name, const TemplateValue& value,
                           const TemplateArguments& arguments, TemplateBudget& budget);
// value is name(…).
bool apply_test(std::string_view name, const TemplateValue& value,
                const TemplateArguments& arguments, TemplateBudget& budget);
// value.name(…), for texts, dicts and lists; none where there is no such method.
std::optional<TemplateValue> call_method(const TemplateValue& value, std::string_view name,
                                         const TemplateArguments& arguments,
                                         TemplateBudget& budget);
// Whether a dict's attribute of this name is a method, whatever its keys.
bool is_dict_method(std::string_view name);

// What a loop goes over: items, keys of a dict, characters of a text; undefined is nothing.
TemplateList iterated(const TemplateValue& value, TemplateBudget& budget);
// len(): items, or characters of a text.
int64_t length_of(const TemplateValue& value, const TemplateBudget& budget);
// a < b, for numbers and texts.
bool less(const TemplateValue& a, const TemplateValue& b, const TemplateBudget& budget);
// a == b, paid for.
bool same(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget);
bool contains(const TemplateValue& container, const TemplateValue& item, TemplateBudget& budget);
// An attribute as templates look it up: a key of a dict, or undefined.
TemplateValue attribute_of(const TemplateValue& value, std::string_view name,
                           const TemplateBudget& budget);
// What strip() and trim leave: white space goes, or the characters.
MarkedText stripped(const MarkedText& text, const std::optional<std::string>& characters, bool left,
                    bool right);

}  // namespace luminal::tokens

#include "luminal/text/jinja/template_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {

const TemplateValue* TemplateArguments::get(size_t place, std::string_view name) const {
  if (place < values.size()) return &values[place];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string TemplateArguments::text(size_t place, std::string_view name,
                                    const std::string& otherwise) const {
  const TemplateValue* value = get(place, name);
  return value ? value->str() : otherwise;
}

MarkedText TemplateArguments::marked_text(size_t place, std::string_view name) const {
  const TemplateValue* value = get(place, name);
  return value ? value->marked_str() : MarkedText();
}

int64_t TemplateArguments::integer(size_t place, std::string_view name, int64_t otherwise) const {
  const TemplateValue* value = get(place, name);
  const int64_t* whole = value ? value->get_if<int64_t>() : nullptr;
  return whole ? *whole : otherwise;
}

TemplateList iterated(const TemplateValue& value, TemplateBudget& budget) {
  if (value.is_undefined()) return {};
  if (const TemplateList* list = value.list()) return *list;
  TemplateList items;
  if (const TemplateDict* dict = value.dict()) {
    for (const auto& [key, _] : *dict) {
      items.push_back(TemplateValue::of(MarkedText(key, value.marked())));
    }
    return items;
  }
  const MarkedText* text = value.marked_text();
  if (!text) budget.fail(fmt::format("{} isn't iterable", value.kind()));
  budget.spend(text->size() * (sizeof(TemplateValue) + sizeof(MarkedText)));
  for (size_t at = 0; at < text->size();) {
    const size_t length = code_point_at(text->text(), at).length;
    items.push_back(TemplateValue::of(text->part(at, length)));
    at += length;
  }
  return items;
}

int64_t length_of(const TemplateValue& value, const TemplateBudget& budget) {
  if (value.is_undefined()) return 0;
  if (const TemplateList* list = value.list()) return static_cast<int64_t>(list->size());
  if (const TemplateDict* dict = value.dict()) return static_cast<int64_t>(dict->size());
  const std::string* text = value.text();
  if (!text) budget.fail(fmt::format("{} has no length", value.kind()));
  return std::count_if(text->begin(), text->end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

bool less(const TemplateValue& a, const TemplateValue& b, const TemplateBudget& budget) {
  if (a.is_number() && b.is_number()) {
    const int64_t* x = a.get_if<int64_t>();
    const int64_t* y = b.get_if<int64_t>();
    return x && y ? *x < *y : a.real() < b.real();
  }
  if (a.text() && b.text()) return *a.text() < *b.text();
  budget.fail(fmt::format("{} can't be compared with {}", a.kind(), b.kind()));
}

bool same(const TemplateValue& a, const TemplateValue& b, TemplateBudget& budget) {
  budget.spend(std::min(a.weight(), b.weight()));
  return equal(a, b);
}

bool contains(const TemplateValue& container, const TemplateValue& item, TemplateBudget& budget) {
  if (container.is_undefined()) return false;
  if (const TemplateList* list = container.list()) {
    return std::any_of(list->begin(), list->end(),
                       [&](const TemplateValue& one) { return same(one, item, budget); });
  }
  if (container.dict()) return item.text() && container.find(*item.text());
  if (!container.text()) budget.fail(fmt::format("'in' doesn't work on {}", container.kind()));
  if (!item.text()) budget.fail(fmt::format("{} can't be in a string", item.kind()));
  budget.spend(container.weight());
  return container.text()->find(*item.text()) != std::string::npos;
}

TemplateValue attribute_of(const TemplateValue& value, std::string_view name,
                           const TemplateBudget& budget) {
  if (const auto* undefined = value.get_if<TemplateUndefined>()) {
    budget.fail(
        fmt::format("'{}' is undefined; it has no '{}'", undefined->name.substr(0, 60), name));
  }
  const TemplateValue* member = value.find(name);
  return member ? *member : TemplateValue::undefined(name);
}

MarkedText stripped(const MarkedText& marked, const std::optional<std::string>& characters,
                    bool left, bool right) {
  const std::string& text = marked.text();
  const std::u32string wanted = characters ? code_points(*characters) : std::u32string();
  const auto goes = [&](char32_t c) {
    if (characters) return wanted.find(c) != wanted.npos;
    return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
  };
  size_t begin = 0;
  while (left && begin < text.size()) {
    const CodePoint c = code_point_at(text, begin);
    if (!goes(c.value)) break;
    begin += c.length;
  }
  size_t end = text.size();
  while (right && end > begin) {
    size_t at = end - 1;
    while (at > begin && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!goes(code_point_at(text, at).value)) break;
    end = at;
  }
  return marked.part(begin, end - begin);
}

}  // namespace luminal::tokens

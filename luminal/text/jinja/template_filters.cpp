// Filters and tests of chat templates.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>

#include "luminal/text/jinja/template_functions.h"
#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using Value = TemplateValue;

// The inverse of lower(); letters without a single counterpart stay.
std::string upper(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    at += c.length;
    append_utf8(out, upper_of(c.value));
  }
  return out;
}

std::string capitalized(const std::string& text) {
  if (text.empty()) return text;
  const size_t first = code_point_at(text, 0).length;
  return upper(text.substr(0, first)) + lower(text.substr(first));
}

std::string titled(const std::string& text) {
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    const std::string letter = text.substr(at, c.length);
    out += in_word ? lower(letter) : upper(letter);
    in_word = is_letter(c.value);
    at += c.length;
  }
  return out;
}

// An attribute given by a dotted path, as in selectattr and map.
Value at_path(Value value, std::string_view path, const TemplateBudget& budget) {
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    if (value.is_undefined()) return value;
    value = attribute_of(value, path.substr(0, dot), budget);
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return value;
}

// select, reject, selectattr, rejectattr: the items that pass a test, or those that fail it.
Value chosen(const Value& value, const TemplateArguments& arguments, bool by_attribute, bool keep,
             TemplateBudget& budget) {
  const size_t first = by_attribute ? 1 : 0;
  const std::string path = by_attribute ? arguments.text(0, "attribute", "") : std::string();
  TemplateArguments rest;
  for (size_t i = first + 1; i < arguments.values.size(); ++i) {
    rest.values.push_back(arguments.values[i]);
  }
  TemplateList out;
  for (const Value& item : iterated(value, budget)) {
    budget.step();
    const Value subject = by_attribute ? at_path(item, path, budget) : item;
    const bool holds = arguments.values.size() > first
                           ? apply_test(arguments.text(first, "", ""), subject, rest, budget)
                           : subject.truth();
    if (holds == keep) out.push_back(item);
  }
  return Value::of(std::move(out));
}

Value map_filter(const Value& value, const TemplateArguments& arguments, TemplateBudget& budget) {
  TemplateList out;
  const Value* path = nullptr;
  for (const auto& [key, named] : arguments.named) {
    if (key == "attribute") path = &named;
  }
  TemplateArguments rest;
  for (size_t i = 1; i < arguments.values.size(); ++i) rest.values.push_back(arguments.values[i]);
  const std::string filter = arguments.values.empty() ? std::string() : arguments.values[0].str();
  if (!path && filter.empty()) budget.fail("'map' needs an attribute or a filter");
  for (const Value& item : iterated(value, budget)) {
    budget.step();
    out.push_back(path ? at_path(item, path->str(), budget)
                       : apply_filter(filter, item, rest, budget));
  }
  return Value::of(std::move(out));
}

Value join_filter(const Value& value, const TemplateArguments& arguments, TemplateBudget& budget) {
  const MarkedText between = arguments.marked_text(0, "d");
  const std::string path = arguments.text(1, "attribute", "");
  MarkedText out;
  bool first = true;
  for (const Value& item : iterated(value, budget)) {
    const Value part = at_path(item, path, budget);
    budget.spend(part.weight() + between.weight());
    if (!first) out.append(between);
    out.append(part.marked_str());
    first = false;
  }
  return Value::of(std::move(out));
}

Value sorted_filter(const Value& value, const TemplateArguments& arguments,
                    TemplateBudget& budget) {
  TemplateList items = iterated(value, budget);
  const std::string path = arguments.text(2, "attribute", "");
  const Value* reverse = arguments.get(0, "reverse");
  std::list<std::pair<Value, size_t>> keys;
  for (size_t i = 0; i < items.size(); ++i) {
    Value key = at_path(items[i], path, budget);
    keys.emplace_back(key.text() ? Value::of(lower(*key.text())) : key, i);
  }
  // Merge sort: stable, and safe even if the order of mixed numbers is inconsistent.
  const bool down = reverse && reverse->truth();
  keys.sort([&](const auto& a, const auto& b) {
    budget.step();
    return down ? less(b.first, a.first, budget) : less(a.first, b.first, budget);
  });
  TemplateList out;
  for (const auto& [_, i] : keys) out.push_back(items[i]);
  return Value::of(std::move(out));
}

Value items_of(const Value& value, TemplateBudget& budget) {
  TemplateList pairs;
  if (value.is_undefined()) return Value::of(std::move(pairs));
  const TemplateDict* dict = value.dict();
  if (!dict) budget.fail(fmt::format("{} has no items", value.kind()));
  for (const auto& [key, item] : *dict) {
    pairs.push_back(Value::of(TemplateList{Value::of(MarkedText(key, value.marked())), item}));
  }
  return Value::of(std::move(pairs));
}

Value indented(const MarkedText& marked, const TemplateArguments& arguments,
               TemplateBudget& budget) {
  const std::string& text = marked.text();
  const Value* width = arguments.get(0, "width");
  const Value* first = arguments.get(1, "first");
  const Value* blank = arguments.get(2, "blank");
  MarkedText indent(std::string(4, ' '));
  if (width) {
    const int64_t* n = width->get_if<int64_t>();
    if (n && (*n < 0 || *n > 1000)) budget.fail("'indent' has an invalid width");
    indent = n ? MarkedText(std::string(static_cast<size_t>(*n), ' ')) : width->marked_str();
  }
  MarkedText out;
  bool at_first = true;
  for (size_t at = 0;; at_first = false) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const bool wanted = at_first ? first && first->truth() : end > at || (blank && blank->truth());
    budget.spend(end - at + indent.weight());
    if (!at_first) out.append(marked, at - 1, 1);
    if (wanted) out.append(indent);
    out.append(marked, at, end - at);
    if (end == text.size()) return Value::of(std::move(out));
    at = end + 1;
  }
}

Value to_integer(const Value& value, const TemplateArguments& arguments) {
  const int64_t otherwise = arguments.integer(0, "default", 0);
  if (value.is_number()) {
    const double real = value.real();
    if (const int64_t* whole = value.get_if<int64_t>()) return Value::of(*whole);
    return Value::of(std::abs(real) < 9e18 ? static_cast<int64_t>(real) : otherwise);
  }
  if (!value.text()) return Value::of(otherwise);
  const std::string text = stripped(*value.marked_text(), std::nullopt, true, true).text();
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  return Value::of(error == std::errc() && end != text.data() ? whole : otherwise);
}

Value to_real(const Value& value) {
  if (value.is_number()) return Value::of(value.real());
  double real = 0;
  if (value.text()) {
    const std::string text = stripped(*value.marked_text(), std::nullopt, true, true).text();
    std::from_chars(text.data(), text.data() + text.size(), real);
  }
  return Value::of(real);
}

Value rounded(const Value& value, const TemplateArguments& arguments, TemplateBudget& budget) {
  if (!value.is_number()) budget.fail(fmt::format("{} can't be rounded", value.kind()));
  const auto digits = std::clamp<int64_t>(arguments.integer(0, "precision", 0), -15, 15);
  const double scale = std::pow(10.0, static_cast<double>(digits));
  return Value::of(std::nearbyint(value.real() * scale) / scale);
}

Value replaced_in(const Value& value, const TemplateArguments& arguments, TemplateBudget& budget) {
  const auto result = call_method(Value::of(value.marked_str()), "replace", arguments, budget);
  return *result;
}

Value end_of(const Value& value, bool first, TemplateBudget& budget) {
  const TemplateList items = iterated(value, budget);
  if (items.empty()) return Value::undefined(first ? "first" : "last");
  return first ? items.front() : items.back();
}

Value unique_of(const Value& value, TemplateBudget& budget) {
  TemplateList out;
  for (const Value& item : iterated(value, budget)) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const Value& other) { return same(other, item, budget); })) {
      out.push_back(item);
    }
  }
  return Value::of(std::move(out));
}

Value json_of(const Value& value, const TemplateArguments& arguments, TemplateBudget& budget) {
  const Value* indent = arguments.get(3, "indent");
  const int64_t* width = indent ? indent->get_if<int64_t>() : nullptr;
  if (width && (*width < 0 || *width > 64)) budget.fail("'tojson' has an invalid indent");
  const auto spaces = static_cast<size_t>(width ? *width * (value.depth() + 1) : 0);
  budget.spend(value.weight() * (1 + spaces));
  return Value::of(MarkedText(value.json(width ? static_cast<int>(*width) : -1), value.marked()));
}

}  // namespace

TemplateValue apply_filter(std::string_view name, const Value& value,
                           const TemplateArguments& arguments, TemplateBudget& budget) {
  budget.step();
  const auto text = [&] {
    budget.spend(value.weight());
    return value.marked_str();
  };
  const auto rewritten = [&](std::string (*rewrite)(const std::string&)) {
    return Value::of(MarkedText(rewrite(text().text()), value.marked()));
  };
  if (name == "default" || name == "d") {
    const Value* otherwise = arguments.get(0, "default_value");
    const Value* also_false = arguments.get(1, "boolean");
    const bool missing =
        value.is_undefined() || (also_false && also_false->truth() && !value.truth());
    if (!missing) return value;
    return otherwise ? *otherwise : Value::of("");
  }
  if (name == "trim") {
    const Value* characters = arguments.get(0, "chars");
    return Value::of(
        stripped(text(), characters ? std::optional(characters->str()) : std::nullopt, true, true));
  }
  if (name == "tojson") return json_of(value, arguments, budget);
  if (name == "length" || name == "count") return Value::of(length_of(value, budget));
  if (name == "upper") return rewritten(upper);
  if (name == "lower") return rewritten([](const std::string& of) { return lower(of); });
  if (name == "capitalize") return rewritten(capitalized);
  if (name == "title") return rewritten(titled);
  if (name == "string" || name == "safe") return Value::of(text());
  if (name == "join") return join_filter(value, arguments, budget);
  if (name == "list") return Value::of(iterated(value, budget));
  if (name == "items") return items_of(value, budget);
  if (name == "dictsort") {
    const Value items = items_of(value, budget);
    TemplateList pairs = *items.list();
    std::sort(pairs.begin(), pairs.end(), [](const Value& a, const Value& b) {
      return lower(*(*a.list())[0].text()) < lower(*(*b.list())[0].text());
    });
    return Value::of(std::move(pairs));
  }
  if (name == "first") return end_of(value, true, budget);
  if (name == "last") return end_of(value, false, budget);
  if (name == "int") return to_integer(value, arguments);
  if (name == "float") return to_real(value);
  if (name == "abs" && value.is_number()) {
    const int64_t* whole = value.get_if<int64_t>();
    return whole && *whole != INT64_MIN ? Value::of(std::abs(*whole))
                                        : Value::of(std::abs(value.real()));
  }
  if (name == "round") return rounded(value, arguments, budget);
  if (name == "replace") return replaced_in(value, arguments, budget);
  if (name == "reverse") {
    TemplateList items = iterated(value, budget);
    std::reverse(items.begin(), items.end());
    if (!value.text()) return Value::of(std::move(items));
    MarkedText out;
    for (const Value& item : items) out.append(*item.marked_text());
    return Value::of(std::move(out));
  }
  if (name == "sort") return sorted_filter(value, arguments, budget);
  if (name == "unique") return unique_of(value, budget);
  if (name == "map") return map_filter(value, arguments, budget);
  if (name == "select") return chosen(value, arguments, false, true, budget);
  if (name == "reject") return chosen(value, arguments, false, false, budget);
  if (name == "selectattr") return chosen(value, arguments, true, true, budget);
  if (name == "rejectattr") return chosen(value, arguments, true, false, budget);
  if (name == "indent") return indented(text(), arguments, budget);
  budget.fail(fmt::format("the filter '{}' isn't supported", name.substr(0, 60)));
}

bool apply_test(std::string_view name, const Value& value, const TemplateArguments& arguments,
                TemplateBudget& budget) {
  const auto other = [&]() -> const Value& {
    if (arguments.values.empty()) budget.fail(fmt::format("the test '{}' needs a value", name));
    return arguments.values[0];
  };
  const auto whole = [&](const Value& of) {
    const int64_t* number = of.get_if<int64_t>();
    if (!number) budget.fail(fmt::format("the test '{}' needs integers", name));
    return *number;
  };
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.text() != nullptr;
  if (name == "mapping") return value.dict() && !value.get_if<TemplateNamespace>();
  if (name == "sequence" || name == "iterable") {
    return value.text() || value.list() || value.dict() || value.is_undefined();
  }
  if (name == "number") return value.is_number();
  if (name == "integer") return value.get_if<int64_t>() != nullptr;
  if (name == "float") return value.get_if<double>() != nullptr;
  if (name == "boolean") return value.get_if<bool>() != nullptr;
  if (name == "true") return value.get_if<bool>() && value.truth();
  if (name == "false") return value.get_if<bool>() && !value.truth();
  if (name == "equalto" || name == "eq" || name == "==" || name == "sameas") {
    return same(value, other(), budget);
  }
  if (name == "ne" || name == "!=") return !same(value, other(), budget);
  if (name == "lt" || name == "lessthan" || name == "<") return less(value, other(), budget);
  if (name == "gt" || name == "greaterthan" || name == ">") return less(other(), value, budget);
  if (name == "ge" || name == ">=") return !less(value, other(), budget);
  if (name == "le" || name == "<=") return !less(other(), value, budget);
  if (name == "in") return contains(other(), value, budget);
  if (name == "odd") return whole(value) % 2 != 0;
  if (name == "even") return whole(value) % 2 == 0;
  if (name == "divisibleby") {
    const int64_t divisor = whole(other());
    if (divisor == 0) budget.fail("division by zero");
    return divisor == -1 || whole(value) % divisor == 0;
  }
  if (name == "callable") {
    return value.get_if<TemplateFunction>() || value.get_if<std::shared_ptr<const TemplateMacro>>();
  }
  if (name == "lower") return value.text() && lower(*value.text()) == *value.text();
  if (name == "upper") return value.text() && upper(*value.text()) == *value.text();
  budget.fail(fmt::format("the test '{}' isn't supported", name.substr(0, 60)));
}

}  // namespace luminal::tokens

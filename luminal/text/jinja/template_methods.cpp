// Methods that chat templates call on strings, dicts and lists, as in Python.
#include <fmt/format.h>

#include <algorithm>

#include "luminal/text/jinja/template_functions.h"
#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using Value = TemplateValue;

constexpr std::string_view kDictMethods[] = {"items", "keys", "values", "get"};

std::optional<std::string> optional_text(const TemplateArguments& arguments, size_t place,
                                         std::string_view name, const TemplateBudget& budget) {
  const Value* value = arguments.get(place, name);
  if (!value || value->is_none()) return std::nullopt;
  if (!value->text()) budget.fail(fmt::format("a method needs a string, not {}", value->kind()));
  return *value->text();
}

std::string needed_text(const TemplateArguments& arguments, size_t place,
                        const TemplateBudget& budget) {
  const auto text = optional_text(arguments, place, "", budget);
  if (!text) budget.fail("a method lacks an argument");
  return *text;
}

// split() and split(None): at runs of white space, ignoring it at both ends.
TemplateList words(const MarkedText& marked, int64_t most) {
  const std::string& text = marked.text();
  TemplateList out;
  size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = code_point_at(text, at);
    if (is_white_space(c.value)) {
      at += c.length;
      continue;
    }
    size_t end = at;
    if (most >= 0 && static_cast<int64_t>(out.size()) >= most) {
      out.push_back(Value::of(stripped(marked.part(at), std::nullopt, false, true)));
      return out;
    }
    while (end < text.size()) {
      const CodePoint next = code_point_at(text, end);
      if (is_white_space(next.value)) break;
      end += next.length;
    }
    out.push_back(Value::of(marked.part(at, end - at)));
    at = end;
  }
  return out;
}

TemplateList split(const MarkedText& text, const std::string& by, int64_t most, bool from_right,
                   const TemplateBudget& budget) {
  if (by.empty()) budget.fail("a string can't be split by an empty one");
  TemplateList out;
  const std::string_view all = text.text();
  size_t begin = 0;
  size_t end = all.size();
  while (most < 0 || static_cast<int64_t>(out.size()) < most) {
    const size_t at = from_right ? all.substr(0, end).rfind(by) : all.find(by, begin);
    if (at == all.npos) break;
    if (from_right) {
      out.push_back(Value::of(text.part(at + by.size(), end - at - by.size())));
      end = at;
    } else {
      out.push_back(Value::of(text.part(begin, at - begin)));
      begin = at + by.size();
    }
  }
  out.push_back(Value::of(text.part(begin, end - begin)));
  if (from_right) std::reverse(out.begin(), out.end());
  return out;
}

TemplateList lines(const MarkedText& marked, bool keep_ends) {
  const std::string& text = marked.text();
  TemplateList out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t next = std::min(end + 1, text.size());
    out.push_back(Value::of(marked.part(at, (keep_ends ? next : end) - at)));
    at = next;
  }
  return out;
}

bool affix(const std::string& text, const Value* wanted, bool at_start,
           const TemplateBudget& budget) {
  if (!wanted) budget.fail("a method lacks an argument");
  const auto one = [&](const Value& value) {
    if (!value.text())
      budget.fail(fmt::format("a string can't start or end with {}", value.kind()));
    return at_start ? text.starts_with(*value.text()) : text.ends_with(*value.text());
  };
  if (const TemplateList* several = wanted->list()) {
    return std::any_of(several->begin(), several->end(), one);
  }
  return one(*wanted);
}

MarkedText replaced_most(const MarkedText& marked, const std::string& from, const MarkedText& to,
                         int64_t most, TemplateBudget& budget) {
  const std::string& text = marked.text();
  if (from.empty()) budget.fail("an empty string can't be replaced");
  MarkedText out;
  size_t at = 0;
  for (int64_t n = 0; most < 0 || n < most; ++n) {
    const size_t found = text.find(from, at);
    if (found == text.npos) break;
    budget.spend(found - at + to.weight());
    out.append(marked, at, found - at).append(to);
    at = found + from.size();
  }
  budget.spend(text.size() - at);
  return out.append(marked, at);
}

// The character index of a byte offset; -1 if nothing was found.
int64_t place_of(const std::string& text, size_t found) {
  if (found == text.npos) return -1;
  return static_cast<int64_t>(code_points(text.substr(0, found)).size());
}

template <typename Is>
bool every(const std::string& text, Is is) {
  const std::u32string letters = code_points(text);
  return !letters.empty() && std::all_of(letters.begin(), letters.end(), is);
}

int64_t count_of(const std::string& text, const std::string& wanted) {
  if (wanted.empty()) return static_cast<int64_t>(code_points(text).size()) + 1;
  int64_t n = 0;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size()))
    ++n;
  return n;
}

std::optional<Value> text_method(const MarkedText& marked, std::string_view name,
                                 const TemplateArguments& arguments, TemplateBudget& budget) {
  const std::string& text = marked.text();
  budget.spend(marked.weight());
  const auto needed = [&] { return needed_text(arguments, 0, budget); };
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    return Value::of(stripped(marked, optional_text(arguments, 0, "chars", budget),
                              name != "rstrip", name != "lstrip"));
  }
  if (name == "split" || name == "rsplit") {
    budget.spend(text.size() * sizeof(Value));
    const auto by = optional_text(arguments, 0, "sep", budget);
    const int64_t most = arguments.integer(1, "maxsplit", -1);
    if (!by) return Value::of(words(marked, most));
    return Value::of(split(marked, *by, most, name == "rsplit", budget));
  }
  if (name == "splitlines") {
    budget.spend(text.size() * sizeof(Value));
    const Value* keep = arguments.get(0, "keepends");
    return Value::of(lines(marked, keep && keep->truth()));
  }
  if (name == "startswith") return Value::of(affix(text, arguments.get(0, ""), true, budget));
  if (name == "endswith") return Value::of(affix(text, arguments.get(0, ""), false, budget));
  if (name == "upper" || name == "lower" || name == "title" || name == "capitalize") {
    return apply_filter(name, Value::of(marked), {}, budget);
  }
  if (name == "replace") {
    needed_text(arguments, 1, budget);
    return Value::of(replaced_most(marked, needed(), arguments.marked_text(1, ""),
                                   arguments.integer(2, "count", -1), budget));
  }
  if (name == "find") return Value::of(place_of(text, text.find(needed())));
  if (name == "rfind") return Value::of(place_of(text, text.rfind(needed())));
  if (name == "count") return Value::of(count_of(text, needed()));
  if (name == "join") {
    if (arguments.values.empty()) budget.fail("'join' lacks its list");
    TemplateArguments with{.values = {Value::of(marked)}, .named = {}};
    return apply_filter("join", arguments.values[0], with, budget);
  }
  if (name == "removeprefix") {
    const std::string prefix = needed();
    return Value::of(text.starts_with(prefix) ? marked.part(prefix.size()) : marked);
  }
  if (name == "removesuffix") {
    const std::string suffix = needed();
    return Value::of(text.ends_with(suffix) ? marked.part(0, text.size() - suffix.size()) : marked);
  }
  if (name == "isdigit")
    return Value::of(every(text, [](char32_t c) { return category(c) == Category::Nd; }));
  if (name == "isalpha") return Value::of(every(text, is_letter));
  if (name == "isalnum")
    return Value::of(every(text, [](char32_t c) { return is_letter(c) || is_number(c); }));
  if (name == "isspace") return Value::of(every(text, is_white_space));
  return std::nullopt;
}

std::optional<Value> dict_method(const Value& value, std::string_view name,
                                 const TemplateArguments& arguments, TemplateBudget& budget) {
  if (name == "items") return apply_filter("items", value, {}, budget);
  if (name == "keys") return Value::of(iterated(value, budget));
  if (name == "values") {
    TemplateList values;
    for (const auto& [_, item] : *value.dict()) values.push_back(item);
    return Value::of(std::move(values));
  }
  if (name == "get") {
    const Value* key = arguments.get(0, "key");
    if (!key) budget.fail("'get' lacks its key");
    const Value* found = key->text() ? value.find(*key->text()) : nullptr;
    if (found) return *found;
    const Value* otherwise = arguments.get(1, "default");
    return otherwise ? *otherwise : Value::none();
  }
  return std::nullopt;
}

std::optional<Value> list_method(const TemplateList& list, std::string_view name,
                                 const TemplateArguments& arguments, TemplateBudget& budget) {
  if (name != "index" && name != "count") return std::nullopt;
  if (arguments.values.empty()) budget.fail(fmt::format("'{}' lacks its item", name));
  const auto is_it = [&](const Value& item) { return same(item, arguments.values[0], budget); };
  if (name == "count") return Value::of(int64_t{std::count_if(list.begin(), list.end(), is_it)});
  const auto found = std::find_if(list.begin(), list.end(), is_it);
  if (found == list.end()) budget.fail("'index' doesn't find its item");
  return Value::of(int64_t{found - list.begin()});
}

}  // namespace

bool is_dict_method(std::string_view name) {
  return std::find(std::begin(kDictMethods), std::end(kDictMethods), name) !=
         std::end(kDictMethods);
}

std::optional<TemplateValue> call_method(const TemplateValue& value, std::string_view name,
                                         const TemplateArguments& arguments,
                                         TemplateBudget& budget) {
  budget.step();
  if (const MarkedText* text = value.marked_text())
    return text_method(*text, name, arguments, budget);
  if (const TemplateList* list = value.list()) return list_method(*list, name, arguments, budget);
  if (value.dict()) return dict_method(value, name, arguments, budget);
  return std::nullopt;
}

}  // namespace luminal::tokens

#include "luminal/text/jinja/template_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/base/errors.h"

namespace luminal::tokens {
namespace {

template <typename T>
using Shared = std::shared_ptr<const T>;

constexpr int kMaxValueDepth = 100;
constexpr size_t kMaxWeight = size_t{1} << 28;

int checked_depth(int depth) {
  if (depth > kMaxValueDepth) {
    throw UserError(
        fmt::format("chat template: values are nested deeper than {}, or a namespace or loop is "
                    "stored inside another value",
                    kMaxValueDepth));
  }
  return depth;
}

size_t checked_weight(size_t weight) {
  if (weight > kMaxWeight) throw UserError("chat template: a list or a dict becomes too large");
  return weight;
}

// repr(float): the shortest text that reads back, always with a point or an exponent.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string quoted_repr(const std::string& text) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string quoted_json(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (byte < 0x20) {
          out += fmt::format("\\u{:04x}", byte);
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string scalar_json(const TemplateValue& value) {
  if (const std::string* text = value.text()) return quoted_json(*text);
  if (const bool* truth = value.get_if<bool>()) return *truth ? "true" : "false";
  if (value.is_none() || value.is_undefined()) return "null";
  if (const double* real = value.get_if<double>()) {
    if (std::isnan(*real)) return "NaN";
    if (std::isinf(*real)) return *real < 0 ? "-Infinity" : "Infinity";
  }
  return value.str();
}

void append_json(std::string& out, const TemplateValue& value, int indent, int level) {
  const TemplateList* list = value.list();
  const TemplateDict* dict = value.dict();
  if (!list && !dict) {
    out += scalar_json(value);
    return;
  }
  const size_t n = list ? list->size() : dict->size();
  if (n == 0) {
    out += list ? "[]" : "{}";
    return;
  }
  const auto new_line = [&](int at) {
    if (indent >= 0)
      out += "\n" + std::string(static_cast<size_t>(indent) * static_cast<size_t>(at), ' ');
  };
  out += list ? '[' : '{';
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) out += indent >= 0 ? "," : ", ";
    new_line(level + 1);
    if (dict) out += quoted_json((*dict)[i].first) + ": ";
    append_json(out, list ? (*list)[i] : (*dict)[i].second, indent, level + 1);
  }
  new_line(level);
  out += list ? ']' : '}';
}

}  // namespace

TemplateValue TemplateValue::undefined(std::string_view name) {
  return Data(TemplateUndefined{std::string(name)});
}
TemplateValue TemplateValue::of(MarkedText text) {
  const size_t weight = 8 + text.weight();
  const bool marked = text.marked();
  TemplateValue value(Data(std::make_shared<const MarkedText>(std::move(text))));
  value.weight_ = weight;
  value.marked_ = marked;
  return value;
}
TemplateValue::TemplateValue(Data data) : data_(std::move(data)) {
  if (get_if<TemplateNamespace>() || get_if<Shared<TemplateLoop>>()) depth_ = kMaxValueDepth;
}

TemplateValue TemplateValue::of(TemplateList list) {
  int depth = 0;
  size_t weight = 8;
  bool marked = false;
  for (const TemplateValue& item : list) {
    marked = marked || item.marked_;
    depth = std::max(depth, item.depth_);
    weight = checked_weight(weight + item.weight_);
  }
  TemplateValue value(Data(std::make_shared<const TemplateList>(std::move(list))));
  value.depth_ = checked_depth(depth + 1);
  value.weight_ = weight;
  value.marked_ = marked;
  return value;
}
TemplateValue TemplateValue::of(TemplateDict dict, bool marked_keys) {
  int depth = 0;
  size_t weight = 8;
  bool marked = marked_keys;
  for (const auto& [key, item] : dict) {
    marked = marked || item.marked_;
    depth = std::max(depth, item.depth_);
    weight = checked_weight(weight + key.size() + item.weight_);
  }
  TemplateValue value(Data(std::make_shared<const TemplateDict>(std::move(dict))));
  value.depth_ = checked_depth(depth + 1);
  value.weight_ = weight;
  value.marked_ = marked;
  return value;
}

const MarkedText* TemplateValue::marked_text() const {
  const auto* text = std::get_if<Shared<MarkedText>>(&data_);
  return text ? text->get() : nullptr;
}
const std::string* TemplateValue::text() const {
  const MarkedText* text = marked_text();
  return text ? &text->text() : nullptr;
}
const TemplateList* TemplateValue::list() const {
  const auto* list = std::get_if<Shared<TemplateList>>(&data_);
  return list ? list->get() : nullptr;
}
const TemplateDict* TemplateValue::dict() const {
  const auto* dict = std::get_if<Shared<TemplateDict>>(&data_);
  return dict ? dict->get() : nullptr;
}

bool TemplateValue::is_number() const {
  return get_if<bool>() || get_if<int64_t>() || get_if<double>();
}

double TemplateValue::real() const {
  if (const bool* truth_value = get_if<bool>()) return *truth_value ? 1 : 0;
  if (const int64_t* whole = get_if<int64_t>()) return static_cast<double>(*whole);
  return *get_if<double>();
}

std::string_view TemplateValue::kind() const {
  constexpr std::string_view kKinds[] = {"undefined",   "none",       "a boolean", "an integer",
                                         "a number",    "a string",   "a list",    "a dict",
                                         "a namespace", "a function", "a loop",    "a macro"};
  return kKinds[data_.index()];
}

bool TemplateValue::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return real() != 0;
  if (const std::string* as_text = text()) return !as_text->empty();
  if (const TemplateList* as_list = list()) return !as_list->empty();
  if (const TemplateDict* as_dict = dict()) return !as_dict->empty();
  return true;
}

std::string TemplateValue::str() const {
  if (is_undefined()) return {};
  if (const std::string* as_text = text()) return *as_text;
  return repr();
}

MarkedText TemplateValue::marked_str() const {
  const MarkedText* text = marked_text();
  return text ? *text : MarkedText(str(), marked_);
}

std::string TemplateValue::repr() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "None";
  if (const bool* truth_value = get_if<bool>()) return *truth_value ? "True" : "False";
  if (const int64_t* whole = get_if<int64_t>()) return std::to_string(*whole);
  if (const double* as_real = get_if<double>()) return float_text(*as_real);
  if (const std::string* as_text = text()) return quoted_repr(*as_text);
  std::string out;
  if (const TemplateList* as_list = list()) {
    for (const TemplateValue& item : *as_list) out += (out.empty() ? "" : ", ") + item.repr();
    return "[" + out + "]";
  }
  if (const TemplateDict* as_dict = dict()) {
    for (const auto& [key, item] : *as_dict) {
      out += (out.empty() ? "" : ", ") + quoted_repr(key) + ": " + item.repr();
    }
    return "{" + out + "}";
  }
  return fmt::format("<{}>", kind());
}

std::string TemplateValue::json(int indent) const {
  std::string out;
  append_json(out, *this, indent, 0);
  return out;
}

const TemplateValue* TemplateValue::find(std::string_view key) const {
  const auto* space = get_if<TemplateNamespace>();
  const TemplateDict* members = space ? space->members.get() : dict();
  if (!members) return nullptr;
  for (const auto& [name, value] : *members) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool equal(const TemplateValue& a, const TemplateValue& b) {
  if (a.is_number() && b.is_number()) {
    const auto* x = a.get_if<int64_t>();
    const auto* y = b.get_if<int64_t>();
    return x && y ? *x == *y : a.real() == b.real();
  }
  if (a.text() && b.text()) return *a.text() == *b.text();
  if (a.list() && b.list()) {
    const TemplateList& x = *a.list();
    const TemplateList& y = *b.list();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!equal(x[i], y[i])) return false;
    }
    return true;
  }
  if (a.dict() && b.dict()) {
    if (a.dict()->size() != b.dict()->size()) return false;
    for (const auto& [key, value] : *a.dict()) {
      const TemplateValue* other = b.find(key);
      if (!other || !equal(value, *other)) return false;
    }
    return true;
  }
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

}  // namespace luminal::tokens

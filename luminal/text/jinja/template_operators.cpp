#include "luminal/text/jinja/template_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/text/jinja/template_functions.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using Value = TemplateValue;

std::optional<int64_t> whole(const Value& value) {
  if (const bool* truth = value.get_if<bool>()) return *truth ? 1 : 0;
  if (const int64_t* number = value.get_if<int64_t>()) return *number;
  return std::nullopt;
}

Value whole_result(std::string_view op, int64_t a, int64_t b, const TemplateBudget& budget) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+") overflow = __builtin_add_overflow(a, b, &result);
  if (op == "-") overflow = __builtin_sub_overflow(a, b, &result);
  if (op == "*") overflow = __builtin_mul_overflow(a, b, &result);
  if (op == "//" || op == "%") {
    if (b == 0) budget.fail("division by zero");
    overflow = a == INT64_MIN && b == -1;
    if (!overflow) {
      // Python rounds down; C++ rounds towards zero.
      const int64_t rest = a % b;
      const bool adjust = rest != 0 && (rest < 0) != (b < 0);
      result = op == "%" ? (adjust ? rest + b : rest) : a / b - (adjust ? 1 : 0);
    }
  }
  if (overflow) budget.fail("a number becomes too large");
  return Value::of(result);
}

Value arithmetic(std::string_view op, const Value& a, const Value& b,
                 const TemplateBudget& budget) {
  const auto x = whole(a);
  const auto y = whole(b);
  if (op == "**") {
    const double power = std::pow(a.real(), b.real());
    const bool is_whole = x && y && *y >= 0 && std::abs(power) < 9e15;
    return is_whole ? Value::of(static_cast<int64_t>(power)) : Value::of(power);
  }
  if (x && y && op != "/") return whole_result(op, *x, *y, budget);
  const double p = a.real();
  const double q = b.real();
  if (op == "+") return Value::of(p + q);
  if (op == "-") return Value::of(p - q);
  if (op == "*") return Value::of(p * q);
  if (q == 0) budget.fail("division by zero");
  if (op == "/") return Value::of(p / q);
  if (op == "//") return Value::of(std::floor(p / q));
  return Value::of(p - q * std::floor(p / q));
}

Value repeated(const MarkedText& text, int64_t n, TemplateBudget& budget) {
  if (n <= 0 || text.size() == 0) return Value::of("");
  if (n > (int64_t{1} << 30)) budget.fail("a string is repeated too often");
  budget.spend(text.weight() * static_cast<size_t>(n));
  MarkedText out;
  for (int64_t i = 0; i < n; ++i) out.append(text);
  return Value::of(std::move(out));
}

Value sum(const Value& a, const Value& b, TemplateBudget& budget) {
  if (a.text() && b.text()) {
    budget.spend(a.marked_text()->weight() + b.marked_text()->weight());
    MarkedText both = *a.marked_text();
    return Value::of(std::move(both.append(*b.marked_text())));
  }
  TemplateList items = *a.list();
  budget.spend((items.size() + b.list()->size()) * sizeof(Value));
  items.insert(items.end(), b.list()->begin(), b.list()->end());
  return Value::of(std::move(items));
}

Value joined(const Value& a, const Value& b, TemplateBudget& budget) {
  budget.spend(a.weight() + b.weight());
  MarkedText both = a.marked_str();
  return Value::of(std::move(both.append(b.marked_str())));
}

// The byte offset of each character, and the end of the last one.
std::vector<size_t> starts(const std::string& text) {
  std::vector<size_t> places;
  for (size_t at = 0; at < text.size(); at += code_point_at(text, at).length) {
    places.push_back(at);
  }
  places.push_back(text.size());
  return places;
}

[[noreturn]] void refuse(std::string_view op, const Value& a, const Value& b,
                         const TemplateBudget& budget) {
  for (const Value* side : {&a, &b}) {
    if (const auto* undefined = side->get_if<TemplateUndefined>()) {
      budget.fail(fmt::format("'{}' is undefined; it can't be used with '{}'",
                              undefined->name.substr(0, 60), op));
    }
  }
  budget.fail(fmt::format("'{}' doesn't work on {} and {}", op, a.kind(), b.kind()));
}

// A Python index: negative counts from the end; clamped.
int64_t clamped(int64_t index, int64_t n, int64_t low, int64_t high) {
  if (index < 0) index += n;
  return std::clamp(index, low, high);
}

}  // namespace

TemplateValue apply_operator(std::string_view op, const Value& a, const Value& b,
                             TemplateBudget& budget) {
  if (op == "==") return Value::of(same(a, b, budget));
  if (op == "!=") return Value::of(!same(a, b, budget));
  if (op == "<") return Value::of(less(a, b, budget));
  if (op == ">") return Value::of(less(b, a, budget));
  if (op == "<=") return Value::of(!less(b, a, budget));
  if (op == ">=") return Value::of(!less(a, b, budget));
  if (op == "in") return Value::of(contains(b, a, budget));
  if (op == "not in") return Value::of(!contains(b, a, budget));
  if (op == "~") return joined(a, b, budget);
  if (a.is_number() && b.is_number()) return arithmetic(op, a, b, budget);
  if (op == "+" && ((a.text() && b.text()) || (a.list() && b.list()))) return sum(a, b, budget);
  if (op == "*" && a.text() && whole(b)) return repeated(*a.marked_text(), *whole(b), budget);
  if (op == "*" && b.text() && whole(a)) return repeated(*b.marked_text(), *whole(a), budget);
  refuse(op, a, b, budget);
}

TemplateValue negative(const Value& value, const TemplateBudget& budget) {
  if (const auto number = whole(value)) return whole_result("-", 0, *number, budget);
  if (!value.is_number()) budget.fail(fmt::format("{} can't be negated", value.kind()));
  return Value::of(-value.real());
}

TemplateValue item_of(const Value& value, const Value& key, const TemplateBudget& budget) {
  if (key.text()) {
    if (value.dict() || value.is_undefined()) return attribute_of(value, *key.text(), budget);
    return Value::undefined(*key.text());
  }
  const auto index = whole(key);
  if (!index) budget.fail(fmt::format("{} isn't an index", key.kind()));
  if (const TemplateList* list = value.list()) {
    const auto n = static_cast<int64_t>(list->size());
    const int64_t at = *index < 0 ? *index + n : *index;
    if (at < 0 || at >= n) return Value::undefined(fmt::format("item {}", *index));
    return (*list)[static_cast<size_t>(at)];
  }
  if (value.text()) {
    const int64_t n = length_of(value, budget);
    const int64_t at = *index < 0 ? *index + n : *index;
    if (at < 0 || at >= n) return Value::undefined(fmt::format("character {}", *index));
    const std::string& text = *value.text();
    size_t begin = 0;
    for (int64_t i = 0; i < at; ++i) begin += code_point_at(text, begin).length;
    return Value::of(value.marked_text()->part(begin, code_point_at(text, begin).length));
  }
  if (value.is_undefined()) return attribute_of(value, "item", budget);
  return Value::undefined(fmt::format("item {}", *index));
}

TemplateValue slice_of(const Value& value, std::optional<int64_t> first,
                       std::optional<int64_t> last, std::optional<int64_t> step,
                       TemplateBudget& budget) {
  if (!value.list() && !value.text()) budget.fail(fmt::format("{} can't be sliced", value.kind()));
  const int64_t by = step.value_or(1);
  if (by == 0) budget.fail("a slice has the step 0");
  const MarkedText* marked = value.marked_text();
  budget.spend(marked ? marked->size() * sizeof(size_t) : value.list()->size() * sizeof(Value));
  const std::vector<size_t> places = marked ? starts(marked->text()) : std::vector<size_t>();
  const auto n = static_cast<int64_t>(marked ? places.size() - 1 : value.list()->size());
  const int64_t low = by > 0 ? 0 : -1;
  const int64_t high = by > 0 ? n : n - 1;
  const int64_t begin = first ? clamped(*first, n, low, high) : (by > 0 ? low : high);
  const int64_t end = last ? clamped(*last, n, low, high) : (by > 0 ? high : low);
  TemplateList items;
  MarkedText text;
  for (int64_t at = begin; by > 0 ? at < end : at > end;) {
    const auto i = static_cast<size_t>(at);
    if (marked) {
      text.append(*marked, places[i], places[i + 1] - places[i]);
    } else {
      items.push_back((*value.list())[i]);
    }
    if (__builtin_add_overflow(at, by, &at)) break;
  }
  return marked ? Value::of(std::move(text)) : Value::of(std::move(items));
}

}  // namespace luminal::tokens

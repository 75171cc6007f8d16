// TemplateValue: a value of a chat template's expression, with Python semantics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "luminal/text/jinja/marked_text.h"

namespace luminal::tokens {

class TemplateValue;
struct TemplateLoop;
struct TemplateMacro;

using TemplateList = std::vector<TemplateValue>;
// In insertion order, as in Python. Templates have small dicts: lookup is linear.
using TemplateDict = std::vector<std::pair<std::string, TemplateValue>>;

struct TemplateUndefined {
  std::string name;  // the missing variable
};
struct TemplateNone {};
// A callable: a built-in function, by name.
struct TemplateFunction {
  std::string name;
};
// namespace(…), the only value that assignments inside loops can change.
struct TemplateNamespace {
  std::shared_ptr<TemplateDict> members;
};

// Cheap to copy: strings and containers are shared and immutable.
class TemplateValue {
 public:
  using Data =
      std::variant<TemplateUndefined, TemplateNone, bool, int64_t, double,
                   std::shared_ptr<const MarkedText>, std::shared_ptr<const TemplateList>,
                   std::shared_ptr<const TemplateDict>, TemplateNamespace, TemplateFunction,
                   std::shared_ptr<const TemplateLoop>, std::shared_ptr<const TemplateMacro>>;

  TemplateValue() : data_(TemplateUndefined{}) {}
  TemplateValue(Data data);
  static TemplateValue undefined(std::string_view name);
  static TemplateValue none() { return Data(TemplateNone{}); }
  static TemplateValue of(bool value) { return Data(value); }
  static TemplateValue of(int64_t value) { return Data(value); }
  static TemplateValue of(double value) { return Data(value); }
  static TemplateValue of(MarkedText text);
  static TemplateValue of(std::string text) { return of(MarkedText(std::move(text))); }
  static TemplateValue of(const char* text) { return of(std::string(text)); }
  // UserError if lists and dicts are nested deeper than 100 or weigh more than 256 MB, so that
  // traversing a value is bounded; they can't contain a namespace or a loop.
  static TemplateValue of(TemplateList list);
  // Keys carry no marks of their own: `marked_keys` says that some come from the conversation.
  static TemplateValue of(TemplateDict dict, bool marked_keys = false);

  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  const std::string* text() const;
  const MarkedText* marked_text() const;
  const TemplateList* list() const;
  const TemplateDict* dict() const;
  bool is_undefined() const { return std::holds_alternative<TemplateUndefined>(data_); }
  bool is_none() const { return std::holds_alternative<TemplateNone>(data_); }
  bool is_number() const;  // includes True and False, as in Python
  double real() const;     // numbers only
  // For messages: "a list".
  std::string_view kind() const;

  bool truth() const;
  // Python's str() and repr().
  std::string str() const;
  MarkedText marked_str() const;
  std::string repr() const;
  // Like json.dumps(value, ensure_ascii=False, indent=…); a negative indent means none.
  std::string json(int indent = -1) const;

  // Nesting depth of lists and dicts.
  int depth() const { return depth_; }
  // Approximate bytes when written out; shared parts count each time they occur.
  size_t weight() const { return weight_; }
  // Whether any of its text came from the conversation: see MarkedText.
  bool marked() const { return marked_; }
  // Looks up a key of a dict or namespace; null if missing.
  const TemplateValue* find(std::string_view key) const;

 private:
  Data data_;
  int depth_ = 0;
  size_t weight_ = 8;
  bool marked_ = false;
};

bool equal(const TemplateValue& a, const TemplateValue& b);

}  // namespace luminal::tokens

// LineReader: one line of a text form, read from the left. Errors name the text and the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"

namespace luminal::base {

class LineReader {
 public:
  // Both texts must outlive the reader. `source` names the text in messages.
  LineReader(std::string_view text, std::string_view source, size_t number);

  [[noreturn]] void fail(const std::string& what) const;  // UserError
  // The error again, with the place of this line unless it has one.
  [[noreturn]] void fail_with(const UserError& error) const;
  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }

  bool take(std::string_view token);
  void expect(std::string_view token);
  void expect_end() const;

  // Letters, digits, _ . - and + up to the next space or bracket.
  std::string_view word();
  int64_t integer();
  double real();
  // The 3 of "p3", which must be below `count`.
  int numbered(std::string_view prefix, size_t count);
  // In double quotes, as quoted() writes it.
  std::string string();
  // The items of [a, b, c], split at commas outside parentheses.
  std::vector<std::string_view> list();
  // Everything before the last " : ".
  std::string_view until_type();
  // A part of this line, to be read apart.
  LineReader part(std::string_view text) const { return {text, source_, number_}; }
  std::string_view rest() { return until("\n"); }
  // Everything before `token`, or the whole rest if there is none.
  std::string_view until(std::string_view token);

 private:
  void skip_space();
  std::string place() const;

  std::string_view rest_;
  std::string_view source_;
  size_t number_;
};

// The lines of a text, one by one.
class TextLines {
 public:
  TextLines(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

  bool at_end() const { return rest_.empty(); }
  // The next line, without consuming it.
  std::string_view peek() const { return rest_.substr(0, rest_.find('\n')); }
  LineReader next();

 private:
  std::string_view rest_;
  std::string_view source_;
  size_t number_ = 0;
};

// In double quotes, with " \ and newlines escaped.
std::string quoted(std::string_view text);

}  // namespace luminal::base

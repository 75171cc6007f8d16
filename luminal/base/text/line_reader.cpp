#include "luminal/base/text/line_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace luminal::base {
namespace {

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

template <typename Number>
bool read_number(std::string_view digits, Number& value) {
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  return error == std::errc() && end == last;
}

}  // namespace

LineReader::LineReader(std::string_view text, std::string_view source, size_t number)
    : rest_(text), source_(source), number_(number) {
  skip_space();
}

std::string LineReader::place() const {
  return std::string(source_) + ":" + std::to_string(number_) + ": ";
}

void LineReader::fail(const std::string& what) const { throw UserError(place() + what); }

void LineReader::fail_with(const UserError& error) const {
  const std::string what = error.what();
  if (what.starts_with(std::string(source_) + ":")) throw error;
  fail(what);
}

bool LineReader::take(std::string_view token) {
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  skip_space();
  return true;
}

void LineReader::expect(std::string_view token) {
  if (!take(token)) fail("expected " + in_quotes(token) + " before " + in_quotes(rest_));
}

void LineReader::expect_end() const {
  if (!rest_.empty()) fail("nothing may follow here, but there is " + in_quotes(rest_));
}

std::string_view LineReader::word() {
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_of_word);
  if (end == rest_.begin()) {
    fail(rest_.empty() ? "the line ends too early" : "expected a word before " + in_quotes(rest_));
  }
  const std::string_view result = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
  rest_.remove_prefix(result.size());
  skip_space();
  return result;
}

int64_t LineReader::integer() {
  const std::string_view digits = word();
  int64_t value = 0;
  if (!read_number(digits, value)) fail(in_quotes(digits) + " is not a 64-bit integer");
  return value;
}

double LineReader::real() {
  const std::string_view digits = word();
  double value = 0;
  if (!read_number(digits, value)) fail(in_quotes(digits) + " is not a number");
  return value;
}

int LineReader::numbered(std::string_view prefix, size_t count) {
  expect(prefix);
  const int64_t number = integer();
  if (number < 0 || static_cast<size_t>(number) >= count) {
    fail("there is no " + in_quotes(std::string(prefix) + std::to_string(number)));
  }
  return static_cast<int>(number);
}

std::string LineReader::string() {
  if (!next_is('"')) fail("expected a name in double quotes before " + in_quotes(rest_));
  std::string out;
  for (size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '"') {
      rest_.remove_prefix(i + 1);
      skip_space();
      return out;
    }
    if (rest_[i] == '\\' && i + 1 < rest_.size()) {
      ++i;
      out += rest_[i] == 'n' ? '\n' : rest_[i];
    } else {
      out += rest_[i];
    }
  }
  fail("the closing double quote is missing");
}

std::vector<std::string_view> LineReader::list() {
  expect("[");
  std::vector<std::string_view> items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < rest_.size(); ++i) {
    const char c = rest_[i];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool ends = c == ']' && depth == 0;
    if (ends || (c == ',' && depth == 0)) {
      const std::string_view item = rest_.substr(start, i - start);
      if (!(ends && items.empty() && item.find_first_not_of(' ') == std::string_view::npos)) {
        items.push_back(item);
      }
      start = i + 1;
    }
    if (ends) {
      rest_.remove_prefix(i + 1);
      skip_space();
      return items;
    }
  }
  fail("the closing ']' is missing");
}

std::string_view LineReader::until_type() {
  const size_t at = rest_.rfind(" : ");
  if (at == std::string_view::npos) fail("the line has no type: add ' : dtype[dims]'");
  const std::string_view result = rest_.substr(0, at);
  rest_.remove_prefix(at + 1);
  return result;
}

std::string_view LineReader::until(std::string_view token) {
  const std::string_view result = rest_.substr(0, rest_.find(token));
  rest_.remove_prefix(result.size());
  skip_space();
  return result;
}

void LineReader::skip_space() {
  while (next_is(' ') || next_is('\t') || next_is('\r')) rest_.remove_prefix(1);
}

LineReader TextLines::next() {
  const std::string_view line = peek();
  rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
  return {line, source_, ++number_};
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace luminal::base

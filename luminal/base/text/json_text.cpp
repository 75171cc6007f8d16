#include "luminal/base/text/json_text.h"

#include "luminal/base/check.h"

#include <charconv>
#include <cmath>
#include <cstddef>

namespace luminal::base {
namespace {

// The length in bytes of the UTF-8 character at the start of a text; 0 if it is invalid, which
// includes overlong forms, surrogates and code points past U+10FFFF.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void append_escaped(unsigned char byte, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (byte >= 0x20 && byte != 0x7f) {
    out += static_cast<char>(byte);
    return;
  }
  out += "\\u00";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 1) {
      append_escaped(static_cast<unsigned char>(text[0]), out);
    } else if (length == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

void JsonText::key(std::string_view name) {
  LUMINAL_CHECK(!open_.empty() && !after_key_,
                "a JSON key must be inside an object and precede its value");
  start_item();
  append_quoted(name, text_);
  text_ += ": ";
  after_key_ = true;
}

void JsonText::value(std::string_view text) {
  start_item();
  append_quoted(text, text_);
}

void JsonText::value(double number) {
  if (!std::isfinite(number)) return null();
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, number);
  const std::string_view digits(buffer, static_cast<size_t>(end - buffer));
  // 1.0 and not 1: readers that distinguish integers from floats get back a float.
  const bool is_whole = digits.find_first_of(".e") == std::string_view::npos;
  raw(is_whole ? std::string(digits) + ".0" : std::string(digits));
}

const std::string& JsonText::text() const {
  LUMINAL_CHECK(open_.empty(), "a container of the JSON text is still open");
  return text_;
}

void JsonText::field(std::string_view name, const std::vector<std::string>& texts) {
  key(name);
  begin_array(Layout::OnOneLine);
  for (const std::string& text : texts) value(text);
  end_array();
}

void JsonText::begin(char bracket, Layout layout) {
  start_item();
  text_ += bracket;
  const bool on_one_line = !open_.empty() && open_.back().layout == Layout::OnOneLine;
  open_.push_back({.layout = on_one_line ? Layout::OnOneLine : layout});
}

void JsonText::end(char bracket) {
  LUMINAL_CHECK(!open_.empty() && !after_key_, "nothing to close in the JSON text");
  const Open closed = open_.back();
  open_.pop_back();
  if (!closed.empty && closed.layout == Layout::Indented) new_line();
  text_ += bracket;
}

void JsonText::raw(std::string_view text) {
  start_item();
  text_ += text;
}

// Writes the separator between an item and the one before it.
void JsonText::start_item() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (open_.empty()) return;
  Open& top = open_.back();
  if (!top.empty) text_ += top.layout == Layout::OnOneLine ? ", " : ",";
  top.empty = false;
  if (top.layout == Layout::Indented) new_line();
}

void JsonText::new_line() {
  text_ += '\n';
  text_.append(2 * open_.size(), ' ');
}

}  // namespace luminal::base

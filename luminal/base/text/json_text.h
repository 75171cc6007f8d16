// JsonText: writes JSON piece by piece, for modules that link no JSON library.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::base {

// Calls must nest: a value, or begin … end, after each key of an object and anywhere in an array.
// Containers are indented by two spaces; one opened `OnOneLine` stays on one line with everything
// in it. Numbers read back to the same bits; NaN and infinities, which JSON lacks, become null.
class JsonText {
 public:
  enum class Layout : uint8_t { Indented, OnOneLine };

  void begin_object(Layout layout = Layout::Indented) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(Layout layout = Layout::Indented) { begin('[', layout); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) { raw(truth ? "true" : "false"); }
  void value(double number);
  template <std::integral Number>
  void value(Number number) {
    raw(std::to_string(number));
  }
  void null() { raw("null"); }

  // A key with a plain value.
  template <typename T>
  void field(std::string_view name, const T& of) {
    key(name);
    value(of);
  }

  // A key with a list of texts, on one line.
  void field(std::string_view name, const std::vector<std::string>& texts);

  // The text, once all containers are closed.
  const std::string& text() const;

 private:
  struct Open {
    Layout layout;
    bool empty = true;
  };

  void begin(char bracket, Layout layout);
  void end(char bracket);
  void raw(std::string_view text);
  void start_item();
  void new_line();

  std::string text_;
  std::vector<Open> open_;
  bool after_key_ = false;
};

// Whether the text is valid UTF-8, so that JSON can hold it unchanged.
bool is_utf8(std::string_view text);

// Quoted and escaped. Each byte that isn't valid UTF-8 becomes U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace luminal::base

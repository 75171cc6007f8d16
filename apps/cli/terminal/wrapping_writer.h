// WrappingWriter: text as it comes, broken into lines between words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace luminal::cli {

// A word is held back until it is whole, so that none is broken that fits on a line. Code between
// ``` stays as it is. Control characters become U+FFFD: a text can't move the terminal's cursor.
class WrappingWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  // `columns` of a line; 0 passes everything on as it is.
  WrappingWriter(Sink sink, int columns) : sink_(std::move(sink)), columns_(columns) {}

  // A piece of the text, in whole characters of UTF-8.
  void write(std::string_view piece);
  // Ends the text: the word held back, and a newline.
  void finish();

 private:
  void take(char32_t character, std::string_view bytes);
  void add_to_word(char32_t character, std::string_view bytes);
  void look_for_code(char32_t character);
  void flush_word();

  Sink sink_;
  int columns_;
  int column_ = 0;  // that is written, of this line
  int spaces_ = 0;  // between that and the word
  std::string word_;
  int word_columns_ = 0;
  bool in_code_ = false;
  bool at_start_ = true;  // of a line of the text: only spaces and ` so far
  int ticks_ = 0;         // of those `
};

// The program's standard output: wrapped on a terminal, as it is elsewhere.
WrappingWriter output_writer();

}  // namespace luminal::cli

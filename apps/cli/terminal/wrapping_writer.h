// WrappingWriter: streams text, wrapped between words.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace luminal::cli {

// A word is held back until it is complete, so that no word is broken that fits on a line. Code
// between ``` is left unchanged. Control characters become U+FFFD, so that text can't move the
// cursor.
class WrappingWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  // `columns` per line; 0 disables wrapping.
  WrappingWriter(Sink sink, int columns) : sink_(std::move(sink)), columns_(columns) {}

  // A piece of the text, in complete UTF-8 characters.
  void write(std::string_view piece);
  // Ends the text: writes the pending word and a newline.
  void finish();

 private:
  void take(char32_t character, std::string_view bytes);
  void add_to_word(char32_t character, std::string_view bytes);
  void look_for_code(char32_t character);
  void flush_word();

  Sink sink_;
  int columns_;
  int column_ = 0;  // of the current line, without the pending word
  int spaces_ = 0;  // before the pending word
  std::string word_;
  int word_columns_ = 0;
  bool in_code_ = false;
  bool at_start_ = true;  // of a line: only spaces and backticks so far
  int ticks_ = 0;         // number of those backticks
};

// Standard output: wrapped on a terminal, unchanged elsewhere.
WrappingWriter output_writer();

}  // namespace luminal::cli

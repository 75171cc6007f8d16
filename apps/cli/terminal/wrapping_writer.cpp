#include "apps/cli/terminal/wrapping_writer.h"

#include <iostream>

#include "luminal/base/os/terminal.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::cli {
namespace {

constexpr int kTab = 8;

struct Range {
  char32_t first, last;
};
// Characters two columns wide: East Asian scripts and emoji.
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                           {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

int columns_of(char32_t character) {
  using tokens::Category;
  const Category category = tokens::category(character);
  if (category == Category::Mn || category == Category::Me || category == Category::Cf) return 0;
  for (const Range& range : kWide) {
    if (character >= range.first && character <= range.last) return 2;
  }
  return 1;
}

}  // namespace

void WrappingWriter::write(std::string_view piece) {
  if (columns_ <= 0) return sink_(piece);
  for (size_t at = 0; at < piece.size();) {
    const tokens::CodePoint point = tokens::code_point_at(piece, at);
    const std::string_view bytes = piece.substr(at, point.length);
    at += point.length;
    const bool control = tokens::category(point.value) == tokens::Category::Cc;
    if (point.value == '\r') continue;
    if (!point.valid || (control && point.value != '\n' && point.value != '\t')) {
      take(tokens::kReplacement, tokens::kReplacementText);
    } else {
      take(point.value, bytes);
    }
  }
}

void WrappingWriter::take(char32_t character, std::string_view bytes) {
  look_for_code(character);
  if (character == '\n') {
    flush_word();
    sink_("\n");
    column_ = spaces_ = 0;
  } else if (character == ' ') {
    flush_word();
    ++spaces_;
  } else if (character == '\t') {
    flush_word();
    spaces_ += kTab - (column_ + spaces_) % kTab;
  } else {
    add_to_word(character, bytes);
  }
}

void WrappingWriter::add_to_word(char32_t character, std::string_view bytes) {
  const int width = columns_of(character);
  if (!in_code_ && word_columns_ + width > columns_) flush_word();
  word_ += bytes;
  word_columns_ += width;
  // Scripts with wide characters have no spaces: a line may break after each.
  if (width == 2) flush_word();
}

void WrappingWriter::look_for_code(char32_t character) {
  if (character == '\n') {
    at_start_ = true;
    ticks_ = 0;
  } else if (at_start_ && character == '`') {
    if (++ticks_ < 3) return;
    in_code_ = !in_code_;
    at_start_ = false;
  } else if (character != ' ') {
    at_start_ = false;
  }
}

void WrappingWriter::flush_word() {
  if (word_.empty()) return;
  if (!in_code_ && column_ > 0 && column_ + spaces_ + word_columns_ > columns_) {
    sink_("\n");
    column_ = spaces_ = 0;
  }
  sink_(std::string(static_cast<size_t>(spaces_), ' ') + word_);
  column_ += spaces_ + word_columns_;
  spaces_ = word_columns_ = 0;
  word_.clear();
}

void WrappingWriter::finish() {
  flush_word();
  sink_("\n");
  column_ = spaces_ = ticks_ = 0;
  in_code_ = false;
  at_start_ = true;
}

WrappingWriter output_writer() {
  const int columns = base::output_is_terminal() ? base::terminal_columns() : 0;
  return {[](std::string_view text) { std::cout << text << std::flush; }, columns};
}

}  // namespace luminal::cli

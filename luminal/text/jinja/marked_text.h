// MarkedText: text of a chat template that tracks which of its bytes came from the conversation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "luminal/text/text_range.h"

namespace luminal::tokens {

// '<|user|>' + message.content is "<|user|>Hello", marked [8, 13). Slicing and concatenation keep
// the marks; an operation that rewrites text marks its whole result if its input has any mark.
class MarkedText {
 public:
  MarkedText() = default;
  explicit MarkedText(std::string text, bool marked = false);

  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  // Sorted; they neither touch nor overlap.
  const std::vector<TextRange>& marks() const { return marks_; }
  bool marked() const { return !marks_.empty(); }
  // Approximate bytes in memory.
  size_t weight() const { return text_.size() + marks_.size() * sizeof(TextRange); }

  MarkedText part(size_t begin, size_t n = std::string::npos) const;
  MarkedText& append(std::string_view unmarked);
  MarkedText& append(const MarkedText& other, size_t begin = 0, size_t n = std::string::npos);

 private:
  void mark(TextRange range);

  std::string text_;
  std::vector<TextRange> marks_;
};

}  // namespace luminal::tokens

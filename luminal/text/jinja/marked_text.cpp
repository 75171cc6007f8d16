#include "luminal/text/jinja/marked_text.h"

#include <algorithm>

namespace luminal::tokens {

MarkedText::MarkedText(std::string text, bool marked) : text_(std::move(text)) {
  if (marked) mark({0, text_.size()});
}

void MarkedText::mark(TextRange range) {
  if (range.begin == range.end) return;
  if (!marks_.empty() && marks_.back().end == range.begin) {
    marks_.back().end = range.end;
  } else {
    marks_.push_back(range);
  }
}

MarkedText MarkedText::part(size_t begin, size_t n) const {
  MarkedText result;
  result.append(*this, begin, n);
  return result;
}

MarkedText& MarkedText::append(std::string_view unmarked) {
  text_ += unmarked;
  return *this;
}

MarkedText& MarkedText::append(const MarkedText& other, size_t begin, size_t n) {
  const size_t end = begin + std::min(n, other.size() - begin);
  const size_t at = text_.size();
  text_.append(other.text_, begin, end - begin);
  auto next = std::partition_point(other.marks_.begin(), other.marks_.end(),
                                   [&](const TextRange& range) { return range.end <= begin; });
  for (; next != other.marks_.end() && next->begin < end; ++next) {
    mark({at + std::max(next->begin, begin) - begin, at + std::min(next->end, end) - begin});
  }
  return *this;
}

}  // namespace luminal::tokens

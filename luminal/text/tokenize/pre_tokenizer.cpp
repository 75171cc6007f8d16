#include "luminal/text/tokenize/pre_tokenizer.h"

#include <algorithm>

#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

struct Stretch {
  size_t begin;
  size_t end;
  bool matches;
};

// Covers a text with parts, from the matches in order: the gaps between them don't match.
class Stretches {
 public:
  void add_match(size_t begin, size_t end) {
    add_rest(begin);
    all_.push_back({begin, end, true});
    covered_ = end;
  }
  void add_rest(size_t end) {
    if (end > covered_) all_.push_back({covered_, end, false});
    covered_ = end;
  }
  std::vector<Stretch>& all() { return all_; }

 private:
  std::vector<Stretch> all_;
  size_t covered_ = 0;
};

std::vector<Stretch> find_all(std::string_view text, const std::string& wanted) {
  Stretches stretches;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size())) {
    stretches.add_match(at, at + wanted.size());
  }
  stretches.add_rest(text.size());
  return std::move(stretches.all());
}

std::vector<Stretch> find_all(std::string_view text,
                              const std::shared_ptr<const Pattern>& pattern) {
  Stretches stretches;
  size_t at = 0;
  while (auto match = pattern->find(text, at)) {
    stretches.add_match(match->begin, match->end);
    at = match->end;
  }
  stretches.add_rest(text.size());
  return std::move(stretches.all());
}

template <typename Predicate>
std::vector<Stretch> find_characters(std::string_view text, Predicate is) {
  Stretches stretches;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (is(c.value)) stretches.add_match(at, at + c.length);
    at += c.length;
  }
  stretches.add_rest(text.size());
  return std::move(stretches.all());
}

// Joins each matching part to the neighbour before it in `stretches`.
std::vector<Stretch> merge_with_neighbour(const std::vector<Stretch>& stretches) {
  std::vector<Stretch> merged;
  bool after_match = false;
  for (const Stretch& stretch : stretches) {
    if (stretch.matches && !after_match && !merged.empty()) {
      merged.back().begin = std::min(merged.back().begin, stretch.begin);
      merged.back().end = std::max(merged.back().end, stretch.end);
    } else {
      merged.push_back(stretch);
    }
    after_match = stretch.matches;
  }
  return merged;
}

std::vector<Stretch> behave(std::vector<Stretch> stretches, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::Isolated:
      return stretches;
    case SplitBehavior::Removed:
      std::erase_if(stretches, [](const Stretch& stretch) { return stretch.matches; });
      return stretches;
    case SplitBehavior::MergedWithPrevious:
      return merge_with_neighbour(stretches);
    case SplitBehavior::MergedWithNext:
      std::reverse(stretches.begin(), stretches.end());
      stretches = merge_with_neighbour(stretches);
      std::reverse(stretches.begin(), stretches.end());
      return stretches;
    case SplitBehavior::Contiguous: {
      std::vector<Stretch> joined;
      for (const Stretch& stretch : stretches) {
        if (!joined.empty() && joined.back().matches == stretch.matches) {
          joined.back().end = stretch.end;
        } else {
          joined.push_back(stretch);
        }
      }
      return joined;
    }
  }
  return stretches;
}

// Runs one step and passes its pieces to `next(piece, at_start)`.
template <typename Next>
void split_into(std::string_view text, const std::vector<Stretch>& stretches, bool at_start,
                const Next& next) {
  for (const Stretch& stretch : stretches) {
    if (stretch.begin == stretch.end) continue;
    next(text.substr(stretch.begin, stretch.end - stretch.begin), at_start && stretch.begin == 0);
  }
}

template <typename Next>
void apply_step(const SplitOn& step, std::string_view text, bool at_start, const Next& next) {
  auto stretches = std::visit([&](const auto& what) { return find_all(text, what); }, step.what);
  if (step.invert) {
    for (Stretch& stretch : stretches) stretch.matches = !stretch.matches;
  }
  split_into(text, behave(std::move(stretches), step.behavior), at_start, next);
}

template <typename Next>
void apply_step(const SplitCharacters& step, std::string_view text, bool at_start,
                const Next& next) {
  split_into(text, behave(find_characters(text, step.is), step.behavior), at_start, next);
}

template <typename Next>
void apply_step(const SplitDelimiter& step, std::string_view text, bool at_start,
                const Next& next) {
  auto stretches = find_characters(text, [&](char32_t c) { return c == step.delimiter; });
  split_into(text, behave(std::move(stretches), SplitBehavior::Removed), at_start, next);
}

template <typename Next>
void apply_step(const SplitByteLevel& step, std::string_view text, bool at_start,
                const Next& next) {
  std::string spaced;
  if (step.add_prefix_space && !text.starts_with(' ')) {
    spaced = " ";
    spaced += text;
    text = spaced;
  }
  std::string letters;
  const auto to_letters = [&](std::string_view word, bool starts) {
    letters.clear();
    append_byte_letters(letters, word);
    next(letters, starts);
  };
  if (!step.words) return to_letters(text, at_start);
  split_into(text, find_all(text, step.words), at_start, to_letters);
}

template <typename Next>
void apply_step(const SplitMetaspace& step, std::string_view text, bool at_start,
                const Next& next) {
  std::string marked = replaced(text, " ", step.replacement);
  const bool wanted =
      step.prepend == PrependScheme::Always || (step.prepend == PrependScheme::First && at_start);
  if (wanted && !marked.starts_with(step.replacement)) marked = step.replacement + marked;
  if (!step.split) return next(marked, at_start);
  split_into(marked, behave(find_all(marked, step.replacement), SplitBehavior::MergedWithNext),
             at_start, next);
}

template <typename Next>
void apply_step(SplitBeforeMarks, std::string_view text, bool at_start, const Next& next) {
  size_t begin = 0;
  bool after_mark = true;
  for (size_t at = 0; at < text.size();) {
    const bool is_mark_here = text.substr(at).starts_with(kSpaceMark);
    if (is_mark_here && !after_mark) {
      next(text.substr(begin, at - begin), at_start && begin == 0);
      begin = at;
    }
    after_mark = is_mark_here;
    at += code_point_at(text, at).length;
  }
  next(text.substr(begin), at_start && begin == 0);
}

}  // namespace

bool is_bert_punctuation(char32_t c) {
  const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                     (c >= 123 && c <= 126);
  return ascii || is_punctuation(c);
}

void PreTokenizer::run(std::string_view text, bool at_start, const Sink& sink) const {
  run_from(0, text, at_start, sink);
}

void PreTokenizer::run_from(size_t step, std::string_view text, bool at_start,
                            const Sink& sink) const {
  if (text.empty()) return;
  if (step == steps.size()) return sink(text);
  const auto next = [&](std::string_view piece, bool starts) {
    run_from(step + 1, piece, starts, sink);
  };
  std::visit([&](const auto& kind) { apply_step(kind, text, at_start, next); }, steps[step]);
}

}  // namespace luminal::tokens

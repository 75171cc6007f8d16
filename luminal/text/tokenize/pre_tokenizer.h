// PreTokenizer: the steps that split a text into words; a token never crosses the end of one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/text/regex/pattern.h"

namespace luminal::tokens {

// What becomes of the stretches that match.
enum class SplitBehavior : uint8_t {
  Removed,
  Isolated,
  MergedWithPrevious,
  MergedWithNext,
  Contiguous
};

struct SplitOn {
  std::variant<std::string, std::shared_ptr<const Pattern>> what;
  SplitBehavior behavior = SplitBehavior::Isolated;
  bool invert = false;  // what doesn't match counts as what does
};
// Splits on single characters of a kind.
struct SplitCharacters {
  bool (*is)(char32_t);
  SplitBehavior behavior;
};
struct SplitDelimiter {
  char32_t delimiter;
};
// Bytes become letters, after an optional split (`use_regex`).
struct SplitByteLevel {
  bool add_prefix_space = false;
  std::shared_ptr<const Pattern> words;  // null for none
};
enum class PrependScheme : uint8_t { Always, First, Never };
struct SplitMetaspace {
  std::string replacement;
  PrependScheme prepend = PrependScheme::Always;
  bool split = true;
};

// Before each "▁" that doesn't follow another one.
struct SplitBeforeMarks {};

using PreTokenizerStep = std::variant<SplitOn, SplitCharacters, SplitDelimiter, SplitByteLevel,
                                      SplitMetaspace, SplitBeforeMarks>;

class PreTokenizer {
 public:
  // Called with each word in turn.
  using Sink = std::function<void(std::string_view word)>;

  std::vector<PreTokenizerStep> steps;

  // `at_start` says that the text is where the input begins, which a word may be marked with.
  void run(std::string_view text, bool at_start, const Sink& sink) const;

 private:
  void run_from(size_t step, std::string_view text, bool at_start, const Sink& sink) const;
};

// Punctuation as BERT has it: also the signs of ASCII that Unicode counts as symbols.
bool is_bert_punctuation(char32_t c);

// The words of GPT-2, which the byte-level step uses by itself.
constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace luminal::tokens

// PreTokenizer: the steps that split a text into words; no token spans two words.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/text/regex/pattern.h"

namespace luminal::tokens {

// What to do with the parts that match.
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
  bool invert = false;  // swap matching and non-matching parts
};
// Splits on single characters that satisfy a predicate.
struct SplitCharacters {
  bool (*is)(char32_t);
  SplitBehavior behavior;
};
struct SplitDelimiter {
  char32_t delimiter;
};
// Maps bytes to letters, after an optional split (`use_regex`).
struct SplitByteLevel {
  bool add_prefix_space = false;
  std::shared_ptr<const Pattern> words;  // null: no split
};
enum class PrependScheme : uint8_t { Always, First, Never };
struct SplitMetaspace {
  std::string replacement;
  PrependScheme prepend = PrependScheme::Always;
  bool split = true;
};

// Splits before each "▁" that doesn't follow another one.
struct SplitBeforeMarks {};

using PreTokenizerStep = std::variant<SplitOn, SplitCharacters, SplitDelimiter, SplitByteLevel,
                                      SplitMetaspace, SplitBeforeMarks>;

class PreTokenizer {
 public:
  // Called with each word in order.
  using Sink = std::function<void(std::string_view word)>;

  std::vector<PreTokenizerStep> steps;

  // `at_start`: the text is the beginning of the input, which may get a prefix.
  void run(std::string_view text, bool at_start, const Sink& sink) const;

 private:
  void run_from(size_t step, std::string_view text, bool at_start, const Sink& sink) const;
};

// BERT's punctuation: also the ASCII characters that Unicode counts as symbols.
bool is_bert_punctuation(char32_t c);

// GPT-2's word pattern, the default of the byte-level step.
constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace luminal::tokens

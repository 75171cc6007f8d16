#include "apps/cli/options/closest_word.h"

#include <cstddef>

#include "luminal/base/text/edit_distance.h"

namespace luminal::cli {
namespace {

constexpr size_t kLongestWord = 64;  // a longer word is no typo
constexpr size_t kBeginning = 3;     // letters that are enough to match a word they begin

}  // namespace

std::string closest_word(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.size() < 2 || typed.size() > kLongestWord) return {};
  for (const std::string& word : words) {
    if (typed.size() >= kBeginning && word.starts_with(typed)) return word;
  }
  std::string best;
  size_t best_distance = typed.size() / 3 + 2;  // three letters may have two errors
  for (const std::string& word : words) {
    const size_t letters = base::edit_distance(typed, word);
    if (letters < best_distance && letters < word.size()) {
      best = word;
      best_distance = letters;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  const std::string word = closest_word(typed, words);
  return word.empty() ? "" : ": did you mean '" + word + "'?";
}

}  // namespace luminal::cli

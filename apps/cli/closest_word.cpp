#include "apps/cli/closest_word.h"

#include <algorithm>
#include <cstddef>

namespace luminal::cli {
namespace {

constexpr size_t kLongestWord = 64;  // what is longer was no slip of the finger
constexpr size_t kBeginning = 3;     // letters that stand for the word they begin

// Damerau's distance: letters added, left out, changed, or swapped with their neighbour.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      least[i][j] = std::min(
          {least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least[a.size()][b.size()];
}

}  // namespace

std::string closest_word(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.size() < 2 || typed.size() > kLongestWord) return {};
  for (const std::string& word : words) {
    if (typed.size() >= kBeginning && word.starts_with(typed)) return word;
  }
  std::string best;
  size_t best_distance = typed.size() / 3 + 2;  // a word of three letters may have one wrong
  for (const std::string& word : words) {
    const size_t letters = distance(typed, word);
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

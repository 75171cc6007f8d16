#include "luminal/base/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace luminal::base {
namespace {

// Single-character comparisons per name: enough for 10,000 names of 70 characters, and a bound on
// what a hostile file can cost.
constexpr size_t kMaxCompared = 50'000'000;

// The number of single-character edits between two names.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Whether `whole` is "something.part".
bool is_suffix(std::string_view part, std::string_view whole) {
  return whole.size() > part.size() && whole.ends_with(part) &&
         whole[whole.size() - part.size() - 1] == '.';
}

}  // namespace

std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  size_t budget = kMaxCompared;
  for (std::string_view candidate : candidates) {
    size_t cost = wanted.size() * candidate.size();
    size_t distance = wanted.size();
    if (is_suffix(wanted, candidate) || is_suffix(candidate, wanted)) {
      distance = 0;
    } else if (cost <= budget) {
      budget -= cost;
      distance = edit_distance(wanted, candidate);
    }
    if (distance * 3 <= wanted.size()) ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min<size_t>(ranked.size(), 3));
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) names.emplace_back(name);
  return names;
}

}  // namespace luminal::base

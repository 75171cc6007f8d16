#include "luminal/base/text/near_names.h"

#include <algorithm>
#include <utility>

#include "luminal/base/text/edit_distance.h"

namespace luminal::base {
namespace {

// Single-character comparisons per name: enough for 10,000 names of 70 characters, and a bound on
// what a hostile file can cost.
constexpr size_t kMaxCompared = 50'000'000;

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

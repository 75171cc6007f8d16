#include "luminal/base/text/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace luminal::base {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows i − 2, i − 1 and i of the table of prefixes of `a` by prefixes of `b`.
  std::vector<size_t> earlier(b.size() + 1), before(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(earlier, before);
    std::swap(before, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = before[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace luminal::base

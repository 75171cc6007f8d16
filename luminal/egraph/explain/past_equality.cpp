// Past equality: along the path of unions between ids, and element by element in containers.
#include "luminal/egraph/explain/past_equality.h"

#include <algorithm>

namespace luminal::egraph {

bool PastEquality::equal_before(Value a, Value b, SortId sort, uint32_t before) const {
  if (a == b) return true;
  if (database_.is_equality(sort)) {
    if (!forest_.connected(a.value, b.value)) return false;
    const auto path = forest_.path(a.value, b.value);
    return std::all_of(path.begin(), path.end(),
                       [&](const auto& edge) { return edge.number < before; });
  }
  if (!database_.holds_ids(sort)) return false;
  const Containers& containers = database_.constants.containers;
  const auto items_a = containers.items(sort, a), items_b = containers.items(sort, b);
  const size_t width = containers.shape(sort).elements.size();
  if (containers.shape(sort).kind == ContainerKind::Vec) {
    if (items_a.size() != items_b.size()) return false;
    for (size_t i = 0; i < items_a.size(); ++i) {
      if (!equal_before(items_a[i], items_b[i], containers.item_sort(sort, i), before)) {
        return false;
      }
    }
    return true;
  }
  return has_entries(items_a, items_b, sort, width, before) &&
         has_entries(items_b, items_a, sort, width, before);
}

bool PastEquality::has_entries(std::span<const Value> all, std::span<const Value> in, SortId sort,
                               size_t width, uint32_t before) const {
  for (size_t i = 0; i < all.size(); i += width) {
    if (!find_entry(all.subspan(i, width), in, sort, before)) return false;
  }
  return true;
}

std::optional<size_t> PastEquality::find_entry(std::span<const Value> entry,
                                               std::span<const Value> in, SortId sort,
                                               uint32_t before) const {
  std::optional<size_t> found;
  size_t fewest = 0;
  for (size_t at = 0; at < in.size(); at += entry.size()) {
    size_t unions = 0;
    bool same = true;
    for (size_t c = 0; c < entry.size() && same; ++c) {
      const SortId item = database_.constants.containers.item_sort(sort, c);
      same = equal_before(entry[c], in[at + c], item, before);
      if (!same || !database_.is_equality(item)) continue;
      unions += forest_.path(entry[c].value, in[at + c].value).size();
    }
    if (!same || (found && unions >= fewest)) continue;
    found = at;
    fewest = unions;
  }
  return found;
}

}  // namespace luminal::egraph

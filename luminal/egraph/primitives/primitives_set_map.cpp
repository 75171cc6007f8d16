// Sets and maps, both kept sorted by key.
#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

// Containers of one sort as sorted keys, each with a value in a map (width 2) or without (width 1).
struct Keyed {
  SortId sort;
  size_t width;
  // Keys are i64: as in egglog, small natural numbers come first, by value; others go by id.
  bool numbers;

  bool less(const Constants& constants, Value a, Value b) const {
    if (!numbers) return a < b;
    constexpr uint64_t kSmall = uint64_t{1} << 31;
    const uint64_t x = std::min(static_cast<uint64_t>(constants.i64(a)), kSmall);
    const uint64_t y = std::min(static_cast<uint64_t>(constants.i64(b)), kSmall);
    return x == y ? a < b : x < y;
  }

  Value make(Constants& constants, Arguments items) const {
    return constants.containers.intern(
        sort, in_key_order(items, width, [&](Value a, Value b) { return less(constants, a, b); }));
  }

  std::vector<Value> items(const Constants& constants, Value value) const {
    const std::span<const Value> all = constants.containers.items(sort, value);
    return {all.begin(), all.end()};
  }

  // The position of the key, or the number of items if it is missing.
  size_t find(const Constants& constants, Value value, Value key) const {
    const std::span<const Value> all = constants.containers.items(sort, value);
    size_t low = 0, high = all.size() / width;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (less(constants, all[middle * width], key)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low * width < all.size() && all[low * width] == key ? low * width : all.size();
  }

  bool contains(const Constants& constants, Value value, Value key) const {
    return find(constants, value, key) < constants.containers.items(sort, value).size();
  }

  // Keeps the entries whose key satisfies the condition.
  template <typename Condition>
  Value filtered(Constants& constants, Value value, Condition condition) const {
    const std::vector<Value> all = items(constants, value);
    std::vector<Value> kept;
    for (size_t i = 0; i < all.size(); i += width) {
      if (!condition(all[i])) continue;
      kept.insert(kept.end(), all.begin() + static_cast<ptrdiff_t>(i),
                  all.begin() + static_cast<ptrdiff_t>(i + width));
    }
    return constants.containers.intern(sort, kept);
  }
};

struct KeyedNames {
  const char *empty, *insert, *remove, *length, *contains, *not_contains;
};

void add_common(PrimitiveAdder& to, Keyed keyed, const KeyedNames& names,
                const std::vector<SortId>& entry) {
  const SortId sort = keyed.sort, unit = to.schema().unit();
  to.add(names.empty, {}, sort, [keyed](Constants& c, Arguments) -> Result {
    return c.containers.intern(keyed.sort, {});
  });
  std::vector<SortId> inputs{sort};
  inputs.insert(inputs.end(), entry.begin(), entry.end());
  to.add(names.insert, inputs, sort, [keyed](Constants& c, Arguments a) -> Result {
    std::vector<Value> items = keyed.items(c, a[0]);
    items.insert(items.end(), a.begin() + 1, a.end());
    return keyed.make(c, items);
  });
  to.add(names.remove, {sort, entry[0]}, sort, [keyed](Constants& c, Arguments a) -> Result {
    return keyed.filtered(c, a[0], [&](Value key) { return key != a[1]; });
  });
  to.add(names.length, {sort}, to.schema().i64(), [keyed](Constants& c, Arguments a) -> Result {
    const size_t items = c.containers.items(keyed.sort, a[0]).size();
    return c.intern(static_cast<int64_t>(items / keyed.width));
  });
  to.add(names.contains, {sort, entry[0]}, unit, [keyed](Constants& c, Arguments a) -> Result {
    if (!keyed.contains(c, a[0], a[1])) return std::nullopt;
    return Constants::unit();
  });
  to.add(names.not_contains, {sort, entry[0]}, unit, [keyed](Constants& c, Arguments a) -> Result {
    if (keyed.contains(c, a[0], a[1])) return std::nullopt;
    return Constants::unit();
  });
}

}  // namespace

void add_set_primitives(PrimitiveAdder& to, SortId sort, SortId element) {
  const SortId i64 = to.schema().i64();
  const Keyed keyed{.sort = sort, .width = 1, .numbers = element == i64};
  add_common(to, keyed,
             {.empty = "set-empty",
              .insert = "set-insert",
              .remove = "set-remove",
              .length = "set-length",
              .contains = "set-contains",
              .not_contains = "set-not-contains"},
             {element});
  to.add_variadic("set-of", element, sort,
                  [keyed](Constants& c, Arguments a) -> Result { return keyed.make(c, a); });
  to.add("set-get", {sort, i64}, element, [keyed](Constants& c, Arguments a) -> Result {
    const std::vector<Value> items = keyed.items(c, a[0]);
    const int64_t place = c.i64(a[1]);
    if (place < 0 || static_cast<uint64_t>(place) >= items.size()) return std::nullopt;
    return items[static_cast<size_t>(place)];
  });
  to.add("set-union", {sort, sort}, sort, [keyed](Constants& c, Arguments a) -> Result {
    std::vector<Value> all = keyed.items(c, a[0]);
    const std::vector<Value> more = keyed.items(c, a[1]);
    all.insert(all.end(), more.begin(), more.end());
    return keyed.make(c, all);
  });
  to.add("set-diff", {sort, sort}, sort, [keyed](Constants& c, Arguments a) -> Result {
    return keyed.filtered(c, a[0], [&](Value item) { return !keyed.contains(c, a[1], item); });
  });
  to.add("set-intersect", {sort, sort}, sort, [keyed](Constants& c, Arguments a) -> Result {
    return keyed.filtered(c, a[0], [&](Value item) { return keyed.contains(c, a[1], item); });
  });
}

void add_map_primitives(PrimitiveAdder& to, SortId sort, SortId key, SortId value) {
  const Keyed keyed{.sort = sort, .width = 2, .numbers = key == to.schema().i64()};
  add_common(to, keyed,
             {.empty = "map-empty",
              .insert = "map-insert",
              .remove = "map-remove",
              .length = "map-length",
              .contains = "map-contains",
              .not_contains = "map-not-contains"},
             {key, value});
  to.add("map-get", {sort, key}, value, [keyed](Constants& c, Arguments a) -> Result {
    const std::span<const Value> items = c.containers.items(keyed.sort, a[0]);
    const size_t place = keyed.find(c, a[0], a[1]);
    if (place == items.size()) return std::nullopt;
    return items[place + 1];
  });
}

}  // namespace luminal::egraph

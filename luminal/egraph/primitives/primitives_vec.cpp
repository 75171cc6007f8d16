#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

// A copy, because interning invalidates the span.
std::vector<Value> items_of(const Constants& constants, SortId sort, Value value) {
  const std::span<const Value> items = constants.containers.items(sort, value);
  return {items.begin(), items.end()};
}

// The index, if it is in range.
std::optional<size_t> place_in(const std::vector<Value>& items, const Constants& constants,
                               Value index) {
  const int64_t place = constants.i64(index);
  if (place < 0 || static_cast<uint64_t>(place) >= items.size()) return std::nullopt;
  return static_cast<size_t>(place);
}

bool contains(const Constants& constants, SortId sort, Arguments a) {
  const std::span<const Value> items = constants.containers.items(sort, a[0]);
  return std::find(items.begin(), items.end(), a[1]) != items.end();
}

void add_reading(PrimitiveAdder& to, SortId sort, SortId element) {
  const SortId i64 = to.schema().i64(), unit = to.schema().unit();
  to.add("vec-length", {sort}, i64, [sort](Constants& c, Arguments a) -> Result {
    return c.intern(static_cast<int64_t>(c.containers.items(sort, a[0]).size()));
  });
  to.add("vec-get", {sort, i64}, element, [sort](Constants& c, Arguments a) -> Result {
    const std::vector<Value> items = items_of(c, sort, a[0]);
    const auto place = place_in(items, c, a[1]);
    if (!place) return std::nullopt;
    return items[*place];
  });
  to.add("vec-contains", {sort, element}, unit, [sort](Constants& c, Arguments a) -> Result {
    if (!contains(c, sort, a)) return std::nullopt;
    return Constants::unit();
  });
  to.add("vec-not-contains", {sort, element}, unit, [sort](Constants& c, Arguments a) -> Result {
    if (contains(c, sort, a)) return std::nullopt;
    return Constants::unit();
  });
}

}  // namespace

void add_vec_primitives(PrimitiveAdder& to, SortId sort, SortId element) {
  const SortId i64 = to.schema().i64();
  to.add("vec-empty", {}, sort,
         [sort](Constants& c, Arguments) -> Result { return c.containers.intern(sort, {}); });
  to.add_variadic("vec-of", element, sort, [sort](Constants& c, Arguments a) -> Result {
    return c.containers.intern(sort, a);
  });
  to.add_variadic("vec-append", sort, sort, [sort](Constants& c, Arguments a) -> Result {
    std::vector<Value> all;
    for (Value one : a) {
      const std::span<const Value> items = c.containers.items(sort, one);
      c.containers.expect_items(all.size() + items.size());
      all.insert(all.end(), items.begin(), items.end());
    }
    return c.containers.intern(sort, all);
  });
  to.add("vec-push", {sort, element}, sort, [sort](Constants& c, Arguments a) -> Result {
    std::vector<Value> items = items_of(c, sort, a[0]);
    items.push_back(a[1]);
    return c.containers.intern(sort, items);
  });
  to.add("vec-pop", {sort}, sort, [sort](Constants& c, Arguments a) -> Result {
    std::vector<Value> items = items_of(c, sort, a[0]);
    if (!items.empty()) items.pop_back();
    return c.containers.intern(sort, items);
  });
  to.add("vec-set", {sort, i64, element}, sort, [sort](Constants& c, Arguments a) -> Result {
    std::vector<Value> items = items_of(c, sort, a[0]);
    const auto place = place_in(items, c, a[1]);
    if (!place) return std::nullopt;
    items[*place] = a[2];
    return c.containers.intern(sort, items);
  });
  to.add("vec-remove", {sort, i64}, sort, [sort](Constants& c, Arguments a) -> Result {
    std::vector<Value> items = items_of(c, sort, a[0]);
    const auto place = place_in(items, c, a[1]);
    if (!place) return std::nullopt;
    items.erase(items.begin() + static_cast<ptrdiff_t>(*place));
    return c.containers.intern(sort, items);
  });
  add_reading(to, sort, element);
  if (element != i64) return;
  to.add("vec-range", {i64}, sort, [sort](Constants& c, Arguments a) -> Result {
    constexpr int64_t kMost = 1 << 24;  // one call must not exhaust the memory
    const int64_t end = c.i64(a[0]);
    if (end > kMost) return std::nullopt;
    std::vector<Value> items;
    for (int64_t i = 0; i < end; ++i) items.push_back(c.intern(i));
    return c.containers.intern(sort, items);
  });
}

}  // namespace luminal::egraph

// Containers: vectors, sets and maps of values, interned per sort to 32-bit values.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/byte_limit.h"
#include "luminal/egraph/value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

class UnionFind;

enum class ContainerKind : uint8_t { Vec, Set, Map };

// The element sorts of a container sort: one, or those of keys and values.
struct ContainerShape {
  ContainerKind kind = ContainerKind::Vec;
  std::vector<SortId> elements = {};
  std::vector<bool> are_classes = {};  // by element: whether its sort is an equality sort
};

// Containers are immutable, and equal contents are one value. If a union displaces an id inside,
// `refresh` creates the canonical container and forwards the old value to it permanently.
class LUMINAL_API Containers {
 public:
  // Element sorts must be added before the sorts of their containers.
  void add_sort(SortId sort, ContainerShape shape);
  bool is_container(SortId sort) const {
    return sort.index() < stores_.size() && !stores_[sort.index()].shape.elements.empty();
  }
  const ContainerShape& shape(SortId sort) const { return store(sort).shape; }
  // The sort of the item at this position: keys and values of a map alternate.
  SortId item_sort(SortId sort, size_t item) const {
    const std::vector<SortId>& elements = store(sort).shape.elements;
    return elements[item % elements.size()];
  }

  // The nesting depth of containers; 0 if the sort is no container.
  int depth(SortId sort) const { return is_container(sort) ? store(sort).depth : 0; }

  // Whether unions can change the contents, at any depth.
  bool holds_ids(SortId sort) const { return is_container(sort) && store(sort).holds_ids; }

  // The items of a set must be sorted without duplicates; those of a map are `key value key value
  // …`, with sorted distinct keys.
  Value intern(SortId sort, std::span<const Value> items);
  uint64_t bytes() const { return bytes_.used; }
  uint64_t most_bytes() const { return bytes_.most; }
  void limit_bytes(uint64_t most) { bytes_.most = most; }
  // Throws ByteLimitReached if a container of n items can't be interned within the limit.
  void expect_items(size_t n) const { bytes_.expect(n * kBytesOfItem); }
  // The span is valid until a container of this sort is interned.
  std::span<const Value> items(SortId sort, Value value) const;

  // The value that this one was forwarded to, or itself.
  Value canonical(SortId sort, Value value) const;

  // Whether there are containers that `refresh` hasn't checked yet.
  bool has_unchecked() const;
  // Forwards the containers that hold displaced ids, inner sorts first. `displaced` are the ids
  // that stopped being roots since the last call.
  void refresh(const UnionFind& ids, std::span<const uint32_t> displaced);
  // The values of a sort that the last refresh forwarded.
  std::span<const uint32_t> displaced(SortId sort) const { return store(sort).displaced; }
  // The displaced id because of which a container was forwarded.
  Value displaced_id(SortId sort, Value value) const {
    return store(sort).displaced_ids[value.index()];
  }

 private:
  struct Store {
    ContainerShape shape;
    bool holds_ids = false;
    int depth = 1;
    std::vector<Value> items;          // of all containers, concatenated
    std::vector<uint32_t> starts{0};   // of each container, and the end of the last
    std::vector<Value> forwarded;      // invalid for a canonical container
    std::vector<Value> displaced_ids;  // of forwarded containers, as in displaced_id()
    std::vector<uint32_t> slots;       // open addressing, hashed by contents
    std::unordered_map<uint32_t, std::vector<uint32_t>> users;  // item to its containers
    size_t checked = 0;
    std::vector<uint32_t> displaced;

    size_t size() const { return forwarded.size(); }
    std::span<const Value> contents(size_t container) const {
      return std::span(items).subspan(starts[container], starts[container + 1] - starts[container]);
    }
  };

  // An estimate that includes spare capacity and the second listing of ids in `users`.
  static constexpr uint64_t kBytesOfItem = 8;
  static constexpr uint64_t kBytesOfUse = 48;

  const Store& store(SortId sort) const;
  Store& store(SortId sort);
  bool can_be_displaced(const Store& store, size_t item) const;
  void grow(Store& store);
  void refresh(Store& store, const UnionFind& ids, std::span<const uint32_t> displaced);
  void check(Store& store, const UnionFind& ids, uint32_t container);
  bool is_class(const Store& store, size_t item) const {
    return store.shape.are_classes[item % store.shape.elements.size()];
  }

  ByteCount bytes_;
  std::vector<Store> stores_;  // by SortId; without elements if the sort is no container
  std::vector<SortId> sorts_;  // the container sorts, in order
};

// The call that makes it: `(vec-of a b)`.
std::string container_text(ContainerKind kind, std::span<const std::string> items);

// Sorts items as `intern` requires for a set (width 1) or a map (width 2); the last of equal keys
// wins.
template <typename Less>
std::vector<Value> in_key_order(std::span<const Value> items, size_t width, Less less) {
  std::vector<size_t> order;
  for (size_t i = 0; i < items.size(); i += width) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return items[a] == items[b] ? a < b : less(items[a], items[b]);
  });
  std::vector<Value> result;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 < order.size() && items[order[i]] == items[order[i + 1]]) continue;
    const std::span<const Value> entry = items.subspan(order[i], width);
    result.insert(result.end(), entry.begin(), entry.end());
  }
  return result;
}

}  // namespace luminal::egraph

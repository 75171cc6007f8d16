// Which ids are equal: a flat union-find over 32-bit ids that logs what each union displaces.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/grow_array.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace luminal::egraph {

// Ids are 0, 1, 2, … in the order of creation. The root of a class is its smallest id, so the
// result doesn't depend on the order of unions.
class LUMINAL_API UnionFind {
 public:
  // A new id, alone in its class.
  uint32_t make();
  // How many ids were made.
  size_t size() const { return parents_.size(); }
  size_t bytes() const { return parents_.bytes() + displaced_bits_.bytes(); }

  // The root of an id's class. Halves the path, so it isn't thread-safe; the const overload leaves
  // paths unchanged and is.
  uint32_t find(uint32_t id) {
    assert(id < parents_.size());
    while (parents_[id] != id) {
      parents_[id] = parents_[parents_[id]];
      id = parents_[id];
    }
    return id;
  }
  uint32_t find(uint32_t id) const {
    assert(id < parents_.size());
    while (parents_[id] != id) id = parents_[id];
    return id;
  }
  bool same(uint32_t a, uint32_t b) { return find(a) == find(b); }
  bool is_root(uint32_t id) const { return !is_displaced(id); }
  // Reads a bit set, which fits into the cache when the parents don't.
  bool is_displaced(uint32_t id) const { return (displaced_bits_[id >> 6] >> (id & 63) & 1) != 0; }

  // Merges two classes and returns the new root, the smaller of the two. Logs the other root; a
  // union of ids that are already equal changes and logs nothing.
  uint32_t unite(uint32_t a, uint32_t b);

  // The ids that stopped being roots since the log was last cleared, in order: a rebuild only has
  // to touch rows that mention one of them.
  std::span<const uint32_t> displaced() const { return displaced_; }
  void clear_displaced() { displaced_.clear(); }

 private:
  GrowArray<uint32_t> parents_;
  GrowArray<uint64_t> displaced_bits_;
  std::vector<uint32_t> displaced_;
};

}  // namespace luminal::egraph

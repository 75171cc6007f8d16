#include "luminal/egraph/union_find.h"

#include "luminal/base/check.h"

#include <limits>
#include <utility>

namespace luminal::egraph {

uint32_t UnionFind::make() {
  // The maximum is reserved: it marks an invalid id.
  LUMINAL_CHECK(parents_.size() < std::numeric_limits<uint32_t>::max(), "32-bit ids are used up");
  const uint32_t id = static_cast<uint32_t>(parents_.size());
  parents_.push_back(id);
  if ((id & 63) == 0) displaced_bits_.push_back(0);
  return id;
}

uint32_t UnionFind::unite(uint32_t a, uint32_t b) {
  uint32_t root = find(a);
  uint32_t other = find(b);
  if (root == other) return root;
  if (other < root) std::swap(root, other);
  parents_[other] = root;
  displaced_bits_[other >> 6] |= uint64_t{1} << (other & 63);
  displaced_.push_back(other);
  return root;
}

}  // namespace luminal::egraph

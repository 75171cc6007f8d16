// PrefixTree: a trie that finds which of many strings a text starts with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::tokens {

class PrefixTree {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Strings with their values; of equal strings the first wins, and empty ones are ignored.
  explicit PrefixTree(std::vector<std::pair<std::string_view, uint32_t>> strings = {});

  // For callers that walk the nodes: the root is 0; `step` returns kNone if there is no child.
  uint32_t step(uint32_t node, char byte) const;
  // The value of the string that ends at a node, or kNone.
  uint32_t value(uint32_t node) const { return nodes_[node].value; }

  struct Found {
    size_t length;
    uint32_t value;
  };
  // The longest string that starts at `from`.
  std::optional<Found> longest(std::string_view text, size_t from) const;
  bool empty() const { return nodes_.size() == 1; }

 private:
  struct Node {
    uint32_t first_child = 0;
    uint32_t value = kNone;
    uint16_t n_children = 0;
    uint8_t byte = 0;
  };

  std::vector<Node> nodes_;  // the children of a node are contiguous, sorted by byte
};

}  // namespace luminal::tokens

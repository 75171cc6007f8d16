// PrefixTree: finds which of many strings a text starts with, byte by byte.
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

  // Strings with their values; of equal strings the first counts, and empty ones are left out.
  explicit PrefixTree(std::vector<std::pair<std::string_view, uint32_t>> strings = {});

  // Nodes, for who walks by itself: the root is 0, and a step to where there is nothing gives
  // kNone.
  uint32_t step(uint32_t node, char byte) const;
  // The value of the string that ends at a node, or kNone.
  uint32_t value(uint32_t node) const { return nodes_[node].value; }

  struct Found {
    size_t length;
    uint32_t value;
  };
  // The longest string that the text has at `from`.
  std::optional<Found> longest(std::string_view text, size_t from) const;
  bool empty() const { return nodes_.size() == 1; }

 private:
  struct Node {
    uint32_t first_child = 0;
    uint32_t value = kNone;
    uint16_t n_children = 0;
    uint8_t byte = 0;
  };

  std::vector<Node> nodes_;  // the children of a node follow one another, in the order of bytes
};

}  // namespace luminal::tokens

#include "luminal/text/subword/prefix_tree.h"

#include <algorithm>

namespace luminal::tokens {

PrefixTree::PrefixTree(std::vector<std::pair<std::string_view, uint32_t>> strings) : nodes_(1) {
  std::erase_if(strings, [](const auto& entry) { return entry.first.empty(); });
  std::sort(strings.begin(), strings.end());
  // Built level by level; the strings below a node are a range of the sorted strings.
  struct Pending {
    uint32_t node;
    size_t begin;
    size_t end;
    size_t depth;
  };
  std::vector<Pending> level{{0, 0, strings.size(), 0}};
  while (!level.empty()) {
    std::vector<Pending> below;
    for (Pending at : level) {
      while (at.begin < at.end && strings[at.begin].first.size() == at.depth) {
        if (nodes_[at.node].value == kNone) nodes_[at.node].value = strings[at.begin].second;
        ++at.begin;
      }
      nodes_[at.node].first_child = static_cast<uint32_t>(nodes_.size());
      while (at.begin < at.end) {
        const char byte = strings[at.begin].first[at.depth];
        size_t end = at.begin;
        while (end < at.end && strings[end].first[at.depth] == byte) ++end;
        below.push_back({static_cast<uint32_t>(nodes_.size()), at.begin, end, at.depth + 1});
        nodes_.push_back({.byte = static_cast<uint8_t>(byte)});
        ++nodes_[at.node].n_children;
        at.begin = end;
      }
    }
    level = std::move(below);
  }
}

uint32_t PrefixTree::step(uint32_t node, char byte) const {
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto last = first + nodes_[node].n_children;
  const auto wanted = static_cast<uint8_t>(byte);
  const auto found = std::lower_bound(
      first, last, wanted, [](const Node& child, uint8_t value) { return child.byte < value; });
  if (found == last || found->byte != wanted) return kNone;
  return static_cast<uint32_t>(found - nodes_.begin());
}

std::optional<PrefixTree::Found> PrefixTree::longest(std::string_view text, size_t from) const {
  std::optional<Found> found;
  uint32_t node = 0;
  for (size_t at = from; at < text.size(); ++at) {
    node = step(node, text[at]);
    if (node == kNone) break;
    if (value(node) != kNone) found = Found{at + 1 - from, value(node)};
  }
  return found;
}

}  // namespace luminal::tokens

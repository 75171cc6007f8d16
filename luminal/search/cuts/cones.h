// Cones: the terms of a kernel, from its root down to what it reads from memory, in a canonical
// form. Classes are numbered in the order they are visited, so the kernel of the seventh layer has
// the same form as that of the first.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "luminal/kernel/lower/instances.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::search {

// Equal forms are lowered to equal kernels: lowering depends on terms, types and which classes are
// the same, never on the number of a class.
struct Cone {
  std::vector<kernel::ClassId> classes;  // in the order of visits; the root is the first
  std::vector<uint32_t> form;
  bool too_large = false;  // more classes than a kernel may have instances; not all are visited
};

class ConeReader {
 public:
  explicit ConeReader(const kernel::TermGraph& graph);

  // The cone under `root`, valid until the next call.
  const Cone& read(kernel::ClassId root, const kernel::Choice& choice, int most_values);

 private:
  // A term without its operands, together with its class's type: equal ones have equal numbers.
  struct Content {
    uint32_t number;
    bool view;
    std::vector<kernel::ClassId> operands;
  };
  uint32_t intern(const std::vector<uint64_t>& key);

  struct KeyHash {
    size_t operator()(const std::vector<uint64_t>& key) const;
  };
  std::unordered_map<std::vector<uint64_t>, uint32_t, KeyHash> numbers_;
  std::vector<std::vector<Content>> contents_;  // by class and term
  std::vector<uint32_t> in_memory_;             // by class: the number that stands for a load of it
  // By class: its position in the cone of the call `met_in_`.
  std::vector<uint32_t> position_, met_in_;
  uint32_t calls_ = 0;
  std::vector<kernel::ClassId> stack_;
  Cone cone_;
};

}  // namespace luminal::search

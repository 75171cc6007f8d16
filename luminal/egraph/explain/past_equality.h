// PastEquality: whether two values were equal after a given number of unions.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/explain/union_forest.h"

#include <cstdint>
#include <optional>
#include <span>

namespace luminal::egraph {

class PastEquality {
 public:
  PastEquality(const Database& database, const UnionForest& forest)
      : database_(database), forest_(forest) {}

  // Whether they are equal by unions with numbers below `before` alone.
  bool equal_before(Value a, Value b, SortId sort, uint32_t before) const;
  // The position of an entry of one container in another; of several, that with the fewest unions.
  std::optional<size_t> find_entry(std::span<const Value> entry, std::span<const Value> in,
                                   SortId sort, uint32_t before) const;

 private:
  bool has_entries(std::span<const Value> all, std::span<const Value> in, SortId sort, size_t width,
                   uint32_t before) const;

  const Database& database_;
  const UnionForest& forest_;
};

}  // namespace luminal::egraph

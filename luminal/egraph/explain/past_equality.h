// PastEquality: whether two values were equal when only so many unions had come.
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

  // Only unions that came before a time may be relied on then.
  bool equal_before(Value a, Value b, SortId sort, uint32_t before) const;
  // Where an entry of one container stands in another: the one that the fewest unions make equal.
  std::optional<size_t> find_entry(std::span<const Value> entry, std::span<const Value> in,
                                   SortId sort, uint32_t before) const;

 private:
  bool has_entries(std::span<const Value> all, std::span<const Value> in, SortId sort, size_t width,
                   uint32_t before) const;

  const Database& database_;
  const UnionForest& forest_;
};

}  // namespace luminal::egraph

// Host primitives of rules/sums.egg: how the maps of nested sums change when their order does.
//
// Σj (Σk a[…k] · b[…j, k]) · y[…j] is Σk a[…k] · (Σj b[…j, k] · y[…j]) where a doesn't depend on j.
// For example (A·B)·v, over i and j: a is A at [i, k], b is B at [k, j], y is v at [j]. The inner
// sum of the result is over dims [k] alone, since neither B nor v depends on i:
//
//   before  [i, j] summed over k, [i] over j        n·m·k + n·m
//   after   [k] summed over j, [i] over k           k·m + n·k
#pragma once

#include <optional>

#include "luminal/egraph/egraph.h"
#include "luminal/shape/index_map.h"

namespace luminal::search {

class HostValues;

struct ExchangedSums {
  IndexMap left;   // of a, over the result's dims and k
  IndexMap inner;  // of the new inner sum, over the same
  IndexMap right;  // of b, over the inner sum's dims and j
  IndexMap other;  // of y, over the same
};

// `sum` is the map of the inner sum over the outer one's body, `left` and `right` those of its
// factors, `other` that of the outer sum's other factor. nullopt if `left` depends on what the
// outer sum is over, if the maps don't fit together or could read an empty source, or unless the
// result multiplies less at the least or at the largest sizes.
std::optional<ExchangedSums> exchange_sums(const IndexMap& sum, const IndexMap& left,
                                           const IndexMap& right, const IndexMap& other);

// The map of a factor of a sum without the dim that the sum is over; nullopt if it depends on it.
std::optional<IndexMap> leave_sum(const IndexMap& factor);

void add_sum_primitives(egraph::EGraph& egraph, HostValues& host);

}  // namespace luminal::search

// How the maps of nested sums change when their order does.
//
// Σj (Σk a[…k] · b[…j, k]) · y[…j] is Σk a[…k] · (Σj b[…j, k] · y[…j]) where a doesn't depend on j.
// For example (A·B)·v, over i and j: a is A at [i, k], b is B at [k, j], y is v at [j]. The inner
// sum of the result is over dims [k] alone, since neither B nor v depends on i:
//
//   before  [i, j] summed over k, [i] over j        n·m·k + n·m
//   after   [k] summed over j, [i] over k           k·m + n·k
#pragma once

#include <optional>

#include "luminal/shape/index_map.h"

namespace luminal::search {

struct ExchangedSums {
  IndexMap left;   // of a, over the result's dims and k
  IndexMap inner;  // of the new inner sum, over the same
  IndexMap right;  // of b, over the inner sum's dims and j
  IndexMap other;  // of y, over the same
};

// The maps of two nested sums.
struct NestedSums {
  const IndexMap& sum;   // of the inner sum over the outer one's body
  const IndexMap& left;  // of the inner sum's factors
  const IndexMap& right;
  const IndexMap& other;  // of the outer sum's other factor
};

// nullopt if `left` depends on what the outer sum is over, or if the maps don't fit together or
// could read an empty source.
std::optional<ExchangedSums> exchange_sums(const NestedSums& nested);
// Whether the exchanged sums multiply less, at the least or at the largest sizes.
bool multiplies_less(const NestedSums& nested, const ExchangedSums& exchanged);

// The map of a factor of a sum without the dim that the sum is over; nullopt if it depends on it.
std::optional<IndexMap> leave_sum(const IndexMap& factor);

// Whether the source has an element wherever the view has one. A view over an empty dim may have an
// empty source; without that dim it may not.
bool has_elements(const IndexMap& map);

}  // namespace luminal::search

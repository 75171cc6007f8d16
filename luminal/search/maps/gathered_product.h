// Products of gathered rows: the rows of a table of weights may be multiplied
// before they are gathered, once for each row of the table.
//
//   Σk E[ids[t], k] · W[k, o]  is  P[ids[t], o]  with  P[v, o] = Σk E[v, k] · W[k, o]
#pragma once

#include <optional>

#include "luminal/shape/index_map.h"

namespace luminal::search {

struct GatheredProduct {
  IndexMap table;    // of E, over [v, o…, k]
  IndexMap weights;  // of W, over the same
  IndexMap result;   // of the gathered rows of P, over the product's dims
};

// `rows` is the map of the gathered rows over the product's body [t…, o…, k], `weights` that of the
// weights, `table` the dims of E. nullopt unless E has two dims, k is its inner one, and the
// weights don't depend on what the rows depend on.
std::optional<GatheredProduct> multiply_before_gather(const IndexMap& rows, const IndexMap& weights,
                                                      const Dims& table);

}  // namespace luminal::search

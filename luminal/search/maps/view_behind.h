// How a factor of a product becomes a factor of its weights.
//
// In Σk x[i, k] · w[o, k] · s[o], the body's dims are [i, o, k], and the weights are seen through
// the view (i, o, k) → (o, k). The scale is seen through (i, o, k) → (o), which is (o, k) → (o)
// behind it: so s can be multiplied with w before the sum.
#pragma once

#include <optional>

#include "luminal/shape/index_map.h"

namespace luminal::search {

// The view q for which q seen through `front` is `whole`: whole = q ∘ front. `whole` is over the
// dims of `front`, or over all but the last of them. nullopt if there is none, or if q could read
// an empty source.
std::optional<IndexMap> view_behind(const IndexMap& front, const IndexMap& whole);

}  // namespace luminal::search

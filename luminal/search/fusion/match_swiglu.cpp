#include "luminal/search/fusion/match_patterns.h"

namespace luminal::search {

std::optional<PatternPlace> match_swiglu(const NodeForms& forms, NodeId at) {
  if (!forms.is(at, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = forms.node(at).inputs;
  for (size_t i = 0; i < 2; ++i) {
    const auto gated = forms.silu_operand(factors[i]);
    if (!gated) continue;
    const auto gate = forms.projection(forms.as_stored(*gated));
    const auto up = forms.projection(forms.as_stored(factors[1 - i]));
    if (!gate || !up || gate->rows != up->rows || gate->storing == up->storing) continue;
    if (forms.is_root(gate->storing) || forms.is_root(up->storing)) continue;
    PatternPlace place{.pattern = FusionPattern::SwiGlu,
                       .at = at,
                       .interior = {gate->storing, up->storing},
                       .hidden = gate->summed,
                       .intermediate = gate->columns,
                       .dtype = forms.node(at).dtype};
    place.tokens = n_elements(forms.node(gate->sum).dims) / gate->columns;
    return place;
  }
  return std::nullopt;
}

}  // namespace luminal::search

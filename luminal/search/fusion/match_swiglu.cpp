#include <cmath>
#include <numbers>

#include "luminal/search/fusion/match_patterns.h"

namespace luminal::search {
namespace {

// v of v · 1 / (2^(−v·log2 e) + 1); none where it is something else.
std::optional<NodeId> silu_operand(const NodeForms& forms, NodeId id) {
  const NodeId product = forms.behind_casts(id);
  if (!forms.is(product, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = forms.node(product).inputs;
  for (size_t i = 0; i < 2; ++i) {
    if (!forms.is(factors[i], Op::Recip)) continue;
    const auto power = forms.beside_constant(forms.node(factors[i]).inputs[0], Op::Add, 1.0);
    if (!power || !forms.is(*power, Op::Exp2)) continue;
    const NodeForms::Scaled exponent = forms.scaled(forms.node(*power).inputs[0]);
    const bool is_sigmoid = std::abs(exponent.factor + std::numbers::log2e) < 1e-6;
    if (is_sigmoid && exponent.base == factors[1 - i]) return exponent.base;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PatternPlace> match_swiglu(const NodeForms& forms, NodeId at) {
  if (!forms.is(at, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = forms.node(at).inputs;
  for (size_t i = 0; i < 2; ++i) {
    const auto gated = silu_operand(forms, factors[i]);
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

#include <algorithm>

#include "luminal/search/fusion/match_patterns.h"

namespace luminal::search {
namespace {

// v, if the node is 1 / √(mean v² + ε) over the last dim.
std::optional<NodeId> normalised_by(const NodeForms& forms, NodeId id) {
  const NodeId scale = forms.behind_views(id);
  if (!forms.is(scale, Op::Recip)) return std::nullopt;
  const NodeId root = forms.node(scale).inputs[0];
  if (!forms.is(root, Op::Sqrt)) return std::nullopt;
  const NodeId shifted = forms.node(root).inputs[0];
  if (!forms.is(shifted, Op::Add)) return std::nullopt;
  const std::vector<NodeId>& terms = forms.node(shifted).inputs;
  for (size_t i = 0; i < 2; ++i) {
    if (!forms.constant(terms[i])) continue;
    const NodeForms::Scaled mean = forms.scaled(terms[1 - i]);
    const NodeId sum = forms.behind_views(mean.base);
    if (!forms.is(sum, Op::Reduce)) continue;
    if (forms.node(sum).as<ReduceAttr>().reducer != Reducer::Sum) continue;
    const NodeId square = forms.node(sum).inputs[0];
    if (!forms.is(square, Op::Mul)) continue;
    const std::vector<NodeId>& factors = forms.node(square).inputs;
    if (factors[0] == factors[1]) return factors[0];
  }
  return std::nullopt;
}

// The last value of the norm: after its weight and its cast, if nothing else reads what they read.
NodeId end_of_norm(const NodeForms& forms, NodeId id) {
  const auto only_reader = [&](Op op) -> std::optional<NodeId> {
    const std::vector<NodeId>& readers = forms.readers(id);
    if (readers.size() != 1 || forms.is_root(id) || !forms.is(readers[0], op)) return {};
    return readers[0];
  };
  if (const auto weighted = only_reader(Op::Mul)) {
    const std::vector<NodeId>& factors = forms.node(*weighted).inputs;
    const NodeId weight = forms.behind(factors[factors[0] == id ? 1 : 0]);
    if (forms.node(weight).dims.size() == 1) id = *weighted;
  }
  if (const auto rounded = only_reader(Op::Cast)) {
    if (is_half(forms.node(*rounded).dtype)) id = *rounded;
  }
  return id;
}

// The columns of all projections that read a value, through views and casts; nullopt if there is
// none.
std::optional<Expr> projected_columns(const NodeForms& forms, NodeId value) {
  std::optional<Expr> columns;
  std::vector<NodeId> seen = {value};
  for (size_t i = 0; i < seen.size(); ++i) {
    for (NodeId reader : forms.readers(seen[i])) {
      if (forms.is(reader, Op::View) || forms.is(reader, Op::Cast)) {
        if (std::ranges::find(seen, reader) == seen.end()) seen.push_back(reader);
        continue;
      }
      if (!forms.is(reader, Op::Mul)) continue;
      for (NodeId sum : forms.readers(reader)) {
        const auto found = forms.product(sum);
        if (found && found->rows == forms.behind(value)) {
          columns = columns ? *columns + found->columns : found->columns;
        }
      }
    }
  }
  return columns;
}

// Whether both terms are full tensors: neither a bias nor one number per row, such as the mean that
// a layer norm subtracts.
bool is_residual(const NodeForms& forms, NodeId sum) {
  const Dims& dims = forms.node(sum).dims;
  return !dims.empty() && std::ranges::all_of(forms.node(sum).inputs, [&](NodeId term) {
    const Dims& own = forms.node(forms.behind(forms.scaled(forms.behind(term)).base)).dims;
    return own.size() >= dims.size() && own.back() == dims.back();
  });
}

// Whether only the norm itself reads the sum.
bool only_normalised(const NodeForms& forms, NodeId sum, NodeId v) {
  if (forms.is_root(sum)) return false;
  if (v == sum) return forms.readers(sum).size() == 3;  // twice squared, once scaled
  return forms.readers(sum).size() == 1 && forms.readers(sum)[0] == v;
}

}  // namespace

std::optional<PatternPlace> match_add_rms_norm(const NodeForms& forms, NodeId at) {
  if (!forms.is(at, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = forms.node(at).inputs;
  for (size_t i = 0; i < 2; ++i) {
    const auto v = normalised_by(forms, factors[i]);
    if (!v || *v != factors[1 - i]) continue;
    const NodeId sum = forms.behind(*v);
    if (!forms.is(sum, Op::Add)) continue;
    if (!is_residual(forms, sum)) continue;
    const NodeId end = end_of_norm(forms, at);
    if (forms.is_root(end)) continue;
    const auto columns = projected_columns(forms, end);
    if (!columns) continue;
    const Dims& dims = forms.node(end).dims;
    PatternPlace place{.pattern = FusionPattern::AddRmsNorm,
                       .at = end,
                       .interior = {end},
                       .hidden = dims.back(),
                       .intermediate = *columns,
                       .dtype = forms.node(end).dtype};
    for (size_t d = 0; d + 1 < dims.size(); ++d) place.tokens = place.tokens * dims[d];
    if (only_normalised(forms, sum, *v)) place.interior.insert(place.interior.begin(), sum);
    return place;
  }
  return std::nullopt;
}

}  // namespace luminal::search

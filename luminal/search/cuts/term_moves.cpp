#include "luminal/search/cuts/term_moves.h"

#include <algorithm>
#include <unordered_set>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

bool sums(const Term& term) {
  return std::holds_alternative<kernel::ReduceTerm>(term) ||
         std::holds_alternative<kernel::ScanTerm>(term);
}

}  // namespace

TermMoves::TermMoves(const kernel::TermGraph& graph, const PlanCost& cost, const PlanState& state,
                     TermFlip flip)
    : flip_(flip), toggles_(cost.is_live(flip.id)) {
  struct Open {
    ClassId id;
    bool near;  // only views lie between it and the term
  };
  std::vector<Open> stack;
  std::unordered_set<uint32_t> seen = {flip.id.value};
  const auto read = [&](const Term& term, bool near) {
    for (ClassId id : kernel::operands(term)) {
      if (seen.insert(id.value).second) stack.push_back({id, near});
    }
  };
  read(graph.at(flip.id).terms[static_cast<size_t>(flip.term)], true);
  while (!stack.empty()) {
    const auto [id, near] = stack.back();
    stack.pop_back();
    const int number = state.term(id);
    if (state.is_computed(id) || number < 0) continue;
    const Term& term = graph.at(id).terms[static_cast<size_t>(number)];
    if (cost.is_live(id) && !state.is_cut(id)) {
      new_.push_back(id);
      if (sums(term)) new_sums_.push_back(id);
      if (near) nearest_.push_back(id);
    }
    read(term, near && is_view(term));
  }
  for (auto* list : {&new_, &new_sums_, &nearest_}) std::ranges::sort(*list);
}

std::vector<Move> TermMoves::each() const {
  std::vector<Move> moves;
  std::vector<const std::vector<ClassId>*> known;
  const std::vector<ClassId> none;
  for (const auto* cuts : {&none, &new_, &new_sums_, &nearest_}) {
    if (std::ranges::any_of(known, [&](const auto* other) { return *other == *cuts; })) continue;
    known.push_back(cuts);
    moves.push_back({*cuts, {flip_}});
    if (!toggles_) continue;
    std::vector<ClassId> with_own = *cuts;
    with_own.push_back(flip_.id);
    moves.push_back({std::move(with_own), {flip_}});
  }
  return moves;
}

}  // namespace luminal::search

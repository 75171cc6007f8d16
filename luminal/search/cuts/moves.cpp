#include "luminal/search/cuts/moves.h"

#include <algorithm>

#include "luminal/search/cuts/term_moves.h"

namespace luminal::search {

using kernel::ClassId;

Moves::Moves(const kernel::TermGraph& graph, const PlanCost& cost)
    : graph_(graph), cost_(cost), is_reduced_(graph.classes.size(), false) {
  for (const kernel::TermClass& by : graph.classes) {
    for (const kernel::Term& term : by.terms) {
      const auto* reduce = std::get_if<kernel::ReduceTerm>(&term);
      if (reduce != nullptr) is_reduced_[reduce->operand.index()] = true;
    }
  }
}

bool Moves::is_reduction(ClassId id) const {
  const auto reduces = [](const kernel::Term& term) {
    return std::holds_alternative<kernel::ReduceTerm>(term) ||
           std::holds_alternative<kernel::ScanTerm>(term);
  };
  return reduces(cost_.term_of(id)) || std::ranges::any_of(cost_.terms().of(id), [&](int t) {
           return reduces(graph_.at(id).terms[static_cast<size_t>(t)]);
         });
}

std::vector<ClassId> Moves::reads(const TermFlip& flip) const {
  return kernel::operands(graph_.at(flip.id).terms[static_cast<size_t>(flip.term)]);
}

ClassId Moves::behind_views(ClassId id, const PlanState& state) const {
  while (true) {
    const kernel::Term& term = graph_.at(id).terms[static_cast<size_t>(state.term(id))];
    const auto* view = std::get_if<kernel::ReindexTerm>(&term);
    if (view == nullptr) return id;
    id = view->operand;
  }
}

std::vector<Move> Moves::from(const PlanState& state, bool again) const {
  std::vector<Move> moves;
  for (ClassId id : cost_.live()) moves.push_back({{id}});
  for (ClassId root : state.stored()) {
    std::vector<ClassId> absorbed = state.reads(root);
    std::erase_if(absorbed, [&](ClassId id) { return !cost_.is_live(id); });
    if (absorbed.size() > 1) moves.push_back({absorbed});
    if (!cost_.is_live(root)) continue;
    for (ClassId read : absorbed) {
      if (is_reduction(read)) moves.push_back({{root, read}});
    }
  }
  for (ClassId id : cost_.live()) {
    if (!state.is_cut(id)) continue;
    for (ClassId operand : reads({id, state.term(id)})) {
      if (cost_.is_live(operand) && !state.is_cut(operand)) moves.push_back({{id, operand}});
    }
  }
  for (ClassId id : cost_.terms().open()) {
    if (!state.is_computed(id)) continue;
    for (int term : cost_.terms().of(id)) {
      if (term == state.term(id)) continue;
      for (Move& move : TermMoves(graph_, cost_, state, {id, term}).each()) {
        moves.push_back(std::move(move));
      }
    }
  }
  if (!again) return moves;
  for (const kernel::Use& use : state.uses()) moves.push_back({.cuts = {}, .uses = {use}});
  return moves;
}

std::vector<Move> Moves::slides(const PlanState& state, ClassId product) const {
  std::vector<Move> moves;
  if (!is_reduced_[product.index()] || !state.is_cut(product)) return moves;
  for (ClassId factor : reads({product, state.term(product)})) {
    factor = behind_views(factor, state);
    if (cost_.is_live(factor) && !state.is_cut(factor)) moves.push_back({{product, factor}});
  }
  return moves;
}

}  // namespace luminal::search

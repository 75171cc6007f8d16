#include "luminal/search/terms/term_choices.h"

#include <algorithm>
#include <unordered_set>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

// Strongly connected components (Tarjan's algorithm, without recursion): classes that can read each
// other have one number, from 1; the others 0.
class Knots {
 public:
  explicit Knots(const std::vector<std::vector<ClassId>>& reads)
      : reads_(reads), number_(reads.size(), 0), low_(reads.size(), 0), knot_(reads.size(), 0) {}

  std::vector<uint32_t> run() {
    for (uint32_t i = 0; i < reads_.size(); ++i) {
      if (number_[i] == 0 && !reads_[i].empty()) visit(i);
    }
    return std::move(knot_);
  }

 private:
  void visit(uint32_t root) {
    enter(root);
    while (!open_.empty()) {
      const auto [id, next] = open_.back();
      if (next < reads_[id].size()) {
        ++open_.back().second;
        const auto read = static_cast<uint32_t>(reads_[id][next].index());
        if (number_[read] == 0) {
          enter(read);
        } else if (waits_[read]) {
          low_[id] = std::min(low_[id], number_[read]);
        }
        continue;
      }
      open_.pop_back();
      if (!open_.empty()) {
        low_[open_.back().first] = std::min(low_[open_.back().first], low_[id]);
      }
      if (low_[id] == number_[id]) leave(id);
    }
  }

  void enter(uint32_t id) {
    if (waits_.empty()) waits_.resize(reads_.size(), false);
    number_[id] = low_[id] = ++count_;
    waits_[id] = true;
    waiting_.push_back(id);
    open_.emplace_back(id, 0);
  }

  void leave(uint32_t id) {
    const bool alone = waiting_.back() == id;
    if (!alone) ++knots_;
    for (bool last = false; !last;) {
      const uint32_t member = waiting_.back();
      waiting_.pop_back();
      waits_[member] = false;
      if (!alone) knot_[member] = knots_;
      last = member == id;
    }
  }

  const std::vector<std::vector<ClassId>>& reads_;
  std::vector<uint32_t> number_, low_, knot_;
  std::vector<bool> waits_;
  std::vector<uint32_t> waiting_;
  std::vector<std::pair<uint32_t, size_t>> open_;
  uint32_t count_ = 0, knots_ = 0;
};

}  // namespace

bool costs_nothing(const Term& term) {
  return std::holds_alternative<kernel::LoadTerm>(term) ||
         std::holds_alternative<kernel::ConstTerm>(term) ||
         std::holds_alternative<kernel::IotaTerm>(term);
}

struct TermChoices::Finder {
  TermChoices& out;
  const kernel::TermGraph& graph;
  const ChosenTerms& chosen;
  const NeededClasses& needed;
  std::vector<bool> usable = {};  // by class: nothing forbids what its chosen term reads

  const Term& term_of(ClassId id) const {
    return graph.at(id).terms[static_cast<size_t>(chosen.term[id.index()])];
  }

  static bool has_only_views(const kernel::TermClass& value) {
    return std::all_of(value.terms.begin(), value.terms.end(), is_view);
  }

  // Whether a plan may compute `term`, beside what it must compute.
  bool may_use(const Term& term) const {
    if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) {
      return std::find(needed.absent.begin(), needed.absent.end(), load->source) ==
             needed.absent.end();
    }
    // A gather would force its data into memory, for the terms that it was chosen over as well.
    if (const auto* gather = std::get_if<kernel::GatherTerm>(&term)) {
      const size_t data = gather->data.index();
      if (chosen.term[data] < 0) return false;
      const Term& term_of_data = term_of(gather->data);
      const bool computed = !is_view(term_of_data) && !costs_nothing(term_of_data);
      if (computed && needed.seen[data] && !needed.stored[data]) return false;
    }
    const std::vector<ClassId> reads = kernel::operands(term);
    return std::all_of(reads.begin(), reads.end(),
                       [&](ClassId read) { return usable[read.index()]; });
  }

  // Operands of chosen terms are settled before their readers.
  void find_usable() {
    usable = needed.seen;
    std::vector<ClassId> order;
    for (uint32_t i = 0; i < graph.classes.size(); ++i) {
      if (chosen.term[i] >= 0 && !usable[i]) order.push_back(ClassId{i});
    }
    std::sort(order.begin(), order.end(), [&](ClassId a, ClassId b) {
      return chosen.position[a.index()] < chosen.position[b.index()];
    });
    for (ClassId id : order) {
      const auto& terms = graph.at(id).terms;
      usable[id.index()] =
          may_use(term_of(id)) && (!has_only_views(graph.at(id)) ||
                                   std::all_of(terms.begin(), terms.end(), [&](const Term& term) {
                                     return !chosen.is_safe(id, term) || may_use(term);
                                   }));
    }
  }

  // The terms that the search may take for a class; one or none where it has no choice.
  std::vector<int> choices(ClassId id) {
    const auto& terms = graph.at(id).terms;
    const Term& own = term_of(id);
    if (terms.size() < 2 || costs_nothing(own) || has_only_views(graph.at(id)) ||
        std::holds_alternative<kernel::StoreAtTerm>(own)) {
      return {};
    }
    std::vector<int> result;
    bool capped = false;
    for (size_t t = 0; t < terms.size(); ++t) {
      const bool is_chosen = static_cast<int>(t) == chosen.term[id.index()];
      if (!is_chosen && (costs_nothing(terms[t]) || !may_use(terms[t]) ||
                         std::holds_alternative<kernel::StoreAtTerm>(terms[t]))) {
        continue;
      }
      if (result.size() == kMostTerms && !is_chosen) {
        capped = true;
        continue;
      }
      if (result.size() == kMostTerms) {
        capped = true;
        result.pop_back();
      }
      result.push_back(static_cast<int>(t));
    }
    out.n_capped_ += capped;
    return result;
  }

  void run() {
    find_usable();
    out.graph_ = &graph;
    out.reached_ = needed.seen;
    out.place_.assign(graph.classes.size(), 0);
    std::vector<ClassId> stack;
    for (uint32_t i = 0; i < graph.classes.size(); ++i) {
      if (needed.seen[i]) stack.push_back(ClassId{i});
    }
    std::vector<std::vector<int>> of(graph.classes.size());
    auto reach = [&](const Term& term) {
      for (ClassId read : kernel::operands(term)) {
        if (out.reached_[read.index()]) continue;
        out.reached_[read.index()] = true;
        stack.push_back(read);
      }
    };
    while (!stack.empty()) {
      const ClassId id = stack.back();
      stack.pop_back();
      const auto& terms = graph.at(id).terms;
      // What is needed anyway was reached by the terms that the plan may take there.
      if (!needed.seen[id.index()]) {
        reach(term_of(id));
        for (const Term& term : terms) {
          if (has_only_views(graph.at(id)) && chosen.is_safe(id, term)) reach(term);
        }
      }
      std::vector<int> terms_of_id = choices(id);
      if (terms_of_id.size() < 2) continue;
      for (int t : terms_of_id) reach(terms[static_cast<size_t>(t)]);
      of[id.index()] = std::move(terms_of_id);
    }
    for (uint32_t i = 0; i < of.size(); ++i) {
      if (of[i].empty()) continue;
      out.open_.push_back(ClassId{i});
      out.terms_.push_back(std::move(of[i]));
      out.place_[i] = static_cast<uint32_t>(out.terms_.size());
    }
    if (!out.open_.empty()) tie();
  }

  void tie() {
    std::vector<std::vector<ClassId>> reads(graph.classes.size());
    for (uint32_t i = 0; i < graph.classes.size(); ++i) {
      const ClassId id{i};
      if (chosen.term[i] < 0) continue;
      auto add = [&](const Term& term) {
        for (ClassId read : kernel::operands(term)) reads[i].push_back(read);
      };
      add(term_of(id));
      for (int t : out.of(id)) add(graph.at(id).terms[static_cast<size_t>(t)]);
      if (!has_only_views(graph.at(id))) continue;
      for (const Term& term : graph.at(id).terms) {
        if (chosen.is_safe(id, term)) add(term);
      }
    }
    out.knot_ = Knots(reads).run();
    for (uint32_t i = 0; i < out.knot_.size(); ++i) {
      if (out.knot_[i] != 0) out.knotted_.push_back(ClassId{i});
    }
  }
};

TermChoices::TermChoices(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                         const NeededClasses& needed) {
  Finder{*this, graph, chosen, needed}.run();
}

const std::vector<int>& TermChoices::of(ClassId id) const {
  static const std::vector<int> none;
  const uint32_t place = place_.empty() ? 0 : place_[id.index()];
  return place == 0 ? none : terms_[place - 1];
}

void TermChoices::fix(ClassId id, int term) {
  const uint32_t place = place_[id.index()];
  if (place != 0) terms_[place - 1] = {term};
}

bool TermChoices::has_cycle(const std::vector<int>& term, std::span<const ClassId> changed) const {
  if (knotted_.empty()) return false;
  std::vector<ClassId> stack;
  std::unordered_set<uint32_t> seen;
  for (ClassId start : changed) {
    const uint32_t knot = knot_[start.index()];
    if (knot == 0) continue;
    seen.clear();
    stack.assign(1, start);
    while (!stack.empty()) {
      const ClassId id = stack.back();
      stack.pop_back();
      const auto& terms = graph_->at(id).terms;
      for (ClassId read : kernel::operands(terms[static_cast<size_t>(term[id.index()])])) {
        if (read == start) return true;
        // A path that leaves a knot never comes back.
        if (knot_[read.index()] != knot) continue;
        if (seen.insert(read.value).second) stack.push_back(read);
      }
    }
  }
  return false;
}

bool TermChoices::has_cycle(const std::vector<int>& term) const {
  return has_cycle(term, knotted_);
}

}  // namespace luminal::search

#include "luminal/search/terms/choose_terms.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

constexpr double kTiny = 1e-3;
constexpr double kMost = 1e300;  // saturates here: shared values count once per use, which adds up

double elements(const Dims& dims, const Bindings& sizes) {
  double count = 1;
  for (Expr dim : dims) {
    count *= static_cast<double>(std::max<int64_t>(dim.evaluate(sizes).value.value_or(128), 1));
  }
  return count;
}

// A term some of whose operands aren't settled yet.
struct Waiting {
  uint32_t class_id;
  int term;
  size_t missing;  // distinct operands that aren't settled
  double cost;     // its own, and that of settled operands
};

class Settling {
 public:
  Settling(const kernel::TermGraph& graph, const Bindings& sizes) : graph_(graph), sizes_(sizes) {
    chosen_.term.assign(graph.classes.size(), -1);
    chosen_.position.assign(graph.classes.size(), ChosenTerms::kNever);
    readers_.resize(graph.classes.size());
  }

  // As in Dijkstra's algorithm: the cheapest candidate settles its class. A term costs no less than
  // what it reads, so no later candidate is cheaper.
  ChosenTerms run() {
    for (uint32_t i = 0; i < graph_.classes.size(); ++i) add_terms(i);
    while (!candidates_.empty()) {
      const auto [cost, class_id, term] = candidates_.top();
      candidates_.pop();
      if (chosen_.term[class_id] >= 0) continue;
      chosen_.term[class_id] = term;
      chosen_.position[class_id] = settled_++;
      for (size_t reader : readers_[class_id]) settle_operand(waiting_[reader], cost);
    }
    return std::move(chosen_);
  }

 private:
  using Candidate = std::tuple<double, uint32_t, int>;

  void add_terms(uint32_t class_id) {
    const auto& terms = graph_.classes[class_id].terms;
    for (size_t t = 0; t < terms.size(); ++t) {
      std::vector<ClassId> reads = kernel::operands(terms[t]);
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      const double own = own_cost(class_id, terms[t]);
      if (reads.empty()) candidates_.emplace(own, class_id, static_cast<int>(t));
      for (ClassId read : reads) readers_[read.index()].push_back(waiting_.size());
      waiting_.push_back({class_id, static_cast<int>(t), reads.size(), own});
    }
  }

  void settle_operand(Waiting& waiting, double cost) {
    waiting.cost = std::min(waiting.cost + cost, kMost);
    if (--waiting.missing == 0) {
      candidates_.emplace(waiting.cost, waiting.class_id, waiting.term);
    }
  }

  double own_cost(uint32_t class_id, const Term& term) const {
    if (std::holds_alternative<kernel::LoadTerm>(term)) return 0;
    if (std::holds_alternative<kernel::ConstTerm>(term)) return kTiny;
    if (std::holds_alternative<kernel::ReindexTerm>(term)) return kTiny;
    const double count = elements(graph_.classes[class_id].dims, sizes_);
    if (std::holds_alternative<kernel::IotaTerm>(term)) return kTiny * count;
    if (const auto* op = std::get_if<kernel::OpTerm>(&term)) {
      return std::max(flops_of(op->op), 1) * count;
    }
    if (const auto* reduce = std::get_if<kernel::ReduceTerm>(&term)) {
      return count + elements(graph_.at(reduce->operand).dims, sizes_);
    }
    return count;
  }

  const kernel::TermGraph& graph_;
  const Bindings& sizes_;
  ChosenTerms chosen_;
  std::vector<std::vector<size_t>> readers_;  // by class: into waiting_
  std::vector<Waiting> waiting_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
  uint32_t settled_ = 0;
};

}  // namespace

bool ChosenTerms::is_safe(ClassId id, const Term& candidate) const {
  const uint32_t own = position[id.index()];
  const std::vector<ClassId> reads = kernel::operands(candidate);
  return std::all_of(reads.begin(), reads.end(),
                     [&](ClassId read) { return position[read.index()] < own; });
}

ChosenTerms choose_terms(const kernel::TermGraph& graph, const Bindings& sizes) {
  return Settling(graph, sizes).run();
}

std::vector<bool> reachable(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                            std::span<const ClassId> roots) {
  std::vector<bool> seen(graph.classes.size(), false);
  std::vector<ClassId> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const ClassId id = stack.back();
    stack.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    const auto& terms = graph.at(id).terms;
    const bool any_view = std::all_of(terms.begin(), terms.end(), is_view);
    for (size_t t = 0; t < terms.size(); ++t) {
      const bool is_choice = static_cast<int>(t) == chosen.term[id.index()];
      if (!is_choice && !(any_view && chosen.is_safe(id, terms[t]))) continue;
      for (ClassId read : kernel::operands(terms[t])) stack.push_back(read);
    }
  }
  return seen;
}

}  // namespace luminal::search

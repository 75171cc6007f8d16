#include "luminal/search/plan_cost.h"

#include <algorithm>
#include <limits>
#include <set>

namespace luminal::search {

using kernel::Choice;
using kernel::ClassId;
using kernel::Term;
using kernel::TermClass;

namespace {

// Where a class may be computed from: its own ops come before views of others.
bool is_view(const Term& term) { return std::holds_alternative<kernel::ReindexTerm>(term); }

bool costs_nothing(const Term& term) {
  return std::holds_alternative<kernel::LoadTerm>(term) ||
         std::holds_alternative<kernel::ConstTerm>(term) ||
         std::holds_alternative<kernel::IotaTerm>(term);
}

// Loads, constants, index values and views of anything are never worth storing.
bool may_be_stored(const TermClass& value) {
  return std::none_of(value.terms.begin(), value.terms.end(),
                      [](const Term& term) { return is_view(term) || costs_nothing(term); });
}

bool touches(const kernel::LoweredKernel& lowered, ClassId root, ClassId id) {
  if (id == root) return false;  // whether others read it doesn't change how it is computed
  if (std::binary_search(lowered.classes.begin(), lowered.classes.end(), id)) return true;
  return std::any_of(
      lowered.origins.begin(), lowered.origins.end(),
      [&](const kernel::ParamOrigin& origin) { return origin.source < 0 && origin.value == id; });
}

// The kernel of `root` in the plan before, if nothing that changed is in it.
const CostedKernel* taken_over(const CostedPlan& before, ClassId root,
                               std::span<const ClassId> changed) {
  auto it = before.kernels.find(root);
  if (it == before.kernels.end()) return nullptr;
  for (ClassId id : changed) {
    if (touches(*it->second->lowered, root, id)) return nullptr;
  }
  return it->second;
}

}  // namespace

PlanCost::PlanCost(const kernel::TermGraph& graph, const PlanRequest& request,
                   const SearchOptions& options)
    : graph_(graph), options_(options), forced_(graph.classes.size(), false) {
  for (uint32_t i = 0; i < graph.classes.size(); ++i) {
    const auto& terms = graph.classes[i].terms;
    first_terms_.push_back(best_term(ClassId{i}, forced_));
    if (terms.size() > 1 && std::all_of(terms.begin(), terms.end(), is_view)) {
      flexible_.push_back(ClassId{i});
    }
  }
  for (ClassId id : request.stored) forced_[id.index()] = true;
  for (const HostNeed& step : request.host_steps) {
    for (ClassId id : step.operands) forced_[id.index()] = true;
  }
  // Only what the request needs is alive; a class nobody reads has nothing to choose.
  const Choice choice = choice_for(forced_);
  std::vector<bool> seen(graph.classes.size(), false);
  std::vector<ClassId> stack;
  for (size_t i = 0; i < forced_.size(); ++i) {
    if (forced_[i]) stack.push_back(ClassId{static_cast<uint32_t>(i)});
  }
  while (!stack.empty()) {
    const ClassId id = stack.back();
    stack.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    const Term& term = graph.at(id).terms[static_cast<size_t>(choice.term[id.index()])];
    for (ClassId operand : kernel::operands(term)) stack.push_back(operand);
    if (std::holds_alternative<kernel::StoreAtTerm>(term)) forced_[id.index()] = true;
    // A gather reads its data where another value says: that data must be somewhere to be read.
    if (const auto* gather = std::get_if<kernel::GatherTerm>(&term)) {
      if (may_be_stored(graph.at(gather->data))) forced_[gather->data.index()] = true;
    }
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    const ClassId id{static_cast<uint32_t>(i)};
    if (seen[i] && !forced_[i] && may_be_stored(graph.at(id))) live_.push_back(id);
  }
}

bool PlanCost::is_source(ClassId id) const {
  const auto& terms = graph_.at(id).terms;
  return std::any_of(terms.begin(), terms.end(), [](const Term& term) {
    return std::holds_alternative<kernel::LoadTerm>(term);
  });
}

// A load if there is one, else an op, else the view whose source is nearest to memory.
int PlanCost::best_term(ClassId id, const std::vector<bool>& cut) const {
  auto rank = [&](const Term& term) {
    if (std::holds_alternative<kernel::LoadTerm>(term)) return 0;
    if (!is_view(term)) return 1;
    const ClassId base = std::get<kernel::ReindexTerm>(term).operand;
    if (cut[base.index()]) return 2;
    if (is_source(base)) return 3;
    const bool computes = std::any_of(graph_.at(base).terms.begin(), graph_.at(base).terms.end(),
                                      [](const Term& t) { return !is_view(t); });
    return computes ? 4 : 5;
  };
  const auto& terms = graph_.at(id).terms;
  int best = 0;
  for (size_t t = 1; t < terms.size(); ++t) {
    if (rank(terms[t]) < rank(terms[static_cast<size_t>(best)])) best = static_cast<int>(t);
  }
  return best;
}

Choice PlanCost::choice_for(const std::vector<bool>& cut) const {
  Choice choice{.cut = cut, .term = first_terms_};
  for (ClassId id : flexible_) choice.term[id.index()] = best_term(id, cut);
  return choice;
}

// What a kernel under `root` reads from memory: together with the root it says which kernel it is.
std::vector<uint32_t> PlanCost::cone(ClassId root, const Choice& choice) const {
  std::set<uint32_t> leaves;
  std::set<uint32_t> seen;
  std::vector<ClassId> stack = {root};
  while (!stack.empty()) {
    const ClassId id = stack.back();
    stack.pop_back();
    if (!seen.insert(id.value).second) continue;
    if (id != root && choice.cut[id.index()]) {
      leaves.insert(id.value);
      continue;
    }
    const Term& term = graph_.at(id).terms[static_cast<size_t>(choice.term[id.index()])];
    for (ClassId operand : kernel::operands(term)) stack.push_back(operand);
  }
  std::vector<uint32_t> key = {root.value};
  key.insert(key.end(), leaves.begin(), leaves.end());
  return key;
}

Result<kernel::Instances> PlanCost::instances_of(ClassId root, const Choice& choice) const {
  std::vector<std::vector<Expr>> factors;
  for (Expr dim : graph_.at(root).dims) factors.push_back({dim});
  auto instances = kernel::walk(graph_, choice, root, factors, options_.limits.walk);
  if (!instances) return instances;
  const auto refined = kernel::refine(graph_, *instances, root);
  const std::vector<int> order = kernel::loop_order(graph_, *instances, root);
  if (refined != factors || !order.empty()) {
    auto split = kernel::walk(graph_, choice, root, refined, options_.limits.walk, order);
    if (split) instances = std::move(split);
  }
  return instances;
}

CostedKernel PlanCost::lower(ClassId root, const Choice& choice) const {
  CostedKernel best;
  best.seconds = std::numeric_limits<double>::infinity();
  const auto instances = instances_of(root, choice);
  if (!instances) {
    best.why = instances.why();
    return best;
  }
  for (int n_outer = instances->n_root_loops; n_outer >= 0; --n_outer) {
    auto lowered = kernel::stage(graph_, root, *instances, n_outer, options_.limits);
    if (!lowered) {
      best.why = lowered.why();
      continue;
    }
    const double time = seconds(lowered->kernel, options_.machine, options_.sizes);
    if (time < best.seconds * (1 - 1e-9)) {
      best.seconds = time;
      best.lowered = std::move(*lowered);
    }
  }
  if (best.lowered) best.why.clear();
  return best;
}

std::vector<kernel::LoweredKernel> PlanCost::variants(ClassId root,
                                                      const std::vector<bool>& cut) const {
  std::vector<kernel::LoweredKernel> result;
  const auto instances = instances_of(root, choice_for(cut));
  if (!instances) return result;
  for (int n_outer = instances->n_root_loops; n_outer >= 0; --n_outer) {
    auto lowered = kernel::stage(graph_, root, *instances, n_outer, options_.limits);
    if (lowered) result.push_back(std::move(*lowered));
  }
  return result;
}

const CostedKernel& PlanCost::kernel_for(ClassId root, const Choice& choice) {
  std::unique_ptr<CostedKernel>& slot = kernels_[cone(root, choice)];
  if (slot == nullptr) slot = std::make_unique<CostedKernel>(lower(root, choice));
  return *slot;
}

CostedPlan PlanCost::cost(const std::vector<bool>& cut, const CostedPlan* before,
                          std::span<const ClassId> changed) {
  const Choice choice = choice_for(cut);
  CostedPlan plan;
  std::vector<ClassId> needed;
  for (size_t i = 0; i < forced_.size(); ++i) {
    if (forced_[i]) needed.push_back(ClassId{static_cast<uint32_t>(i)});
  }
  while (!needed.empty()) {
    const ClassId id = needed.back();
    needed.pop_back();
    if (is_source(id) || plan.kernels.contains(id)) continue;
    const CostedKernel* known = before != nullptr ? taken_over(*before, id, changed) : nullptr;
    const CostedKernel& kernel = known != nullptr ? *known : kernel_for(id, choice);
    if (!kernel.lowered) {
      plan.why = kernel.why;
      plan.seconds = std::numeric_limits<double>::infinity();
      return plan;
    }
    plan.kernels.emplace(id, &kernel);
    plan.seconds += kernel.seconds;
    for (const kernel::ParamOrigin& origin : kernel.lowered->origins) {
      if (origin.source < 0 && origin.value != id) needed.push_back(origin.value);
    }
  }
  return plan;
}

}  // namespace luminal::search

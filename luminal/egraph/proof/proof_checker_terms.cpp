// The terms of an explanation and what its steps made equal, now or at an earlier step.
#include "luminal/egraph/proof/proof_checker_state.h"

#include <algorithm>
#include <set>

namespace luminal::egraph {

void ProofChecker::take(const ProofTerm& term) {
  require(term.function.index() < schema_.functions().size(), "an unknown function");
  const Function& function = schema_.function(term.function);
  require(function.kind == FunctionKind::Constructor, "only constructors make terms");
  require(term.arguments.size() == function.inputs.size(), "a wrong number of arguments");
  for (size_t i = 0; i < term.arguments.size(); ++i) {
    require_named(term.arguments[i], function.inputs[i]);
  }
  require(program_.is_name(term), "an id stands for another term");
  const auto [entry, is_new] = ids_.emplace(term.id.value, static_cast<uint32_t>(parents_.size()));
  require(is_new, "an id has two terms");
  parents_.push_back(entry->second);
  united_at_.push_back(0);
  terms_.push_back(&term);
  by_function_[term.function.value].push_back(&term);
}

void ProofChecker::require_named(Value value, SortId sort) const {
  if (schema_.is_equality(sort)) return require(ids_.contains(value.value), "an unnamed id");
  if (!containers_.holds_ids(sort)) return;
  for (size_t i = 0; const Value item : containers_.items(sort, value)) {
    require_named(item, containers_.item_sort(sort, i++));
  }
}

void ProofChecker::require_known(Value value, SortId sort) const {
  if (schema_.is_equality(sort)) return require(value.index() < program_.ids, "an unknown id");
  if (!containers_.holds_ids(sort)) return;
  for (size_t i = 0; const Value item : containers_.items(sort, value)) {
    require_known(item, containers_.item_sort(sort, i++));
  }
}

const ProofTerm& ProofChecker::term(Value id) const {
  const auto found = ids_.find(id.value);
  require(found != ids_.end(), "an unnamed id");
  return *terms_[found->second];
}

uint32_t ProofChecker::root(Value id) const {
  const auto found = ids_.find(id.value);
  require(found != ids_.end(), "an unnamed id");
  uint32_t at = found->second;
  while (parents_[at] != at && united_at_[at] < time_) at = parents_[at];
  return at;
}

void ProofChecker::unite(Value a, Value b) {
  const uint32_t root_a = root(a), root_b = root(b);
  require(root_a != root_b, "these terms are equal already");
  parents_[std::max(root_a, root_b)] = std::min(root_a, root_b);
  united_at_[std::max(root_a, root_b)] = now_;
}

std::string ProofChecker::normal(Value value, SortId sort) const {
  if (schema_.is_equality(sort)) return "#" + std::to_string(root(value));
  if (!containers_.holds_ids(sort)) return std::to_string(value.value);
  std::vector<std::string> items;
  for (const Value item : containers_.items(sort, value)) {
    items.push_back(normal(item, containers_.item_sort(sort, items.size())));
  }
  std::string text = "[";
  switch (containers_.shape(sort).kind) {
    case ContainerKind::Vec:
      for (const std::string& item : items) text += item + " ";
      break;
    case ContainerKind::Set:
      for (const std::string& item : std::set(items.begin(), items.end())) text += item + " ";
      break;
    case ContainerKind::Map: {
      std::map<std::string, std::string> entries;
      for (size_t i = 0; i < items.size(); i += 2) entries[items[i]] = items[i + 1];
      for (const auto& [key, item] : entries) text += key + ":" + item + " ";
      break;
    }
  }
  return text + "]";
}

bool ProofChecker::equal(Value a, Value b, SortId sort) const {
  if (schema_.is_equality(sort)) return root(a) == root(b);
  if (a == b || !containers_.holds_ids(sort)) return a == b;
  return normal(a, sort) == normal(b, sort);
}

bool ProofChecker::equal(const Candidate& a, const Candidate& b) const {
  if (a.sort != b.sort || !equal(a.value, b.value, a.sort)) return false;
  if (a.row == nullptr || b.row == nullptr) return true;
  return a.row->function == b.row->function &&
         same_values(a.row->arguments, b.row->arguments, schema_.function(a.row->function));
}

bool ProofChecker::same_values(const std::vector<Value>& a, const std::vector<Value>& b,
                               const Function& function) const {
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    if (!equal(a[i], b[i], function.inputs[i])) return false;
  }
  return true;
}

bool ProofChecker::contains(const Candidates& candidates, const Candidate& value) const {
  return candidates.any ||
         std::any_of(candidates.list.begin(), candidates.list.end(),
                     [&](const Candidate& candidate) { return equal(candidate, value); });
}

bool ProofChecker::fit(const std::vector<Candidates>& arguments, const std::vector<Value>& values,
                       const Function& function) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!contains(arguments[i], values[i], function.inputs[i])) return false;
  }
  return true;
}

}  // namespace luminal::egraph

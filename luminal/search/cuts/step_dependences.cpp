#include "luminal/search/cuts/step_dependences.h"

#include <functional>
#include <queue>

#include "luminal/base/check.h"

namespace luminal::search {

StepDependences::StepDependences(const std::vector<std::vector<size_t>>& reads)
    : n_(reads.size()),
      left_((n_ + 63) / 64, 0),
      direct_(n_, left_),
      earlier_(n_, left_),
      later_(n_, left_) {
  for (size_t j = 0; j < n_; ++j) {
    put(left_, j);
    for (size_t i : reads[j]) put(direct_[j], i);
  }
  // In topological order, the predecessors of what a step reads are complete before its own; in
  // reverse order, the successors of its readers are.
  const std::vector<size_t> order = in_order();
  for (size_t j : order) {
    for (size_t i : reads[j]) {
      put(earlier_[j], i);
      put_all(earlier_[j], earlier_[i]);
    }
  }
  for (size_t k = order.size(); k-- > 0;) {
    const size_t j = order[k];
    for (size_t i : reads[j]) {
      put(later_[i], j);
      put_all(later_[i], later_[j]);
    }
  }
}

void StepDependences::put_all(Steps& steps, const Steps& more) {
  for (size_t w = 0; w < steps.size(); ++w) steps[w] |= more[w];
}

bool StepDependences::meet(const Steps& a, const Steps& b) {
  for (size_t w = 0; w < a.size(); ++w) {
    if ((a[w] & b[w]) != 0) return true;
  }
  return false;
}

bool StepDependences::separated(size_t i, size_t j) const {
  return meet(later_[i], earlier_[j]) || meet(later_[j], earlier_[i]);
}

void StepDependences::merge(size_t i, size_t j) {
  for (std::vector<Steps>* sets : {&direct_, &earlier_, &later_}) {
    put_all((*sets)[i], (*sets)[j]);
    drop((*sets)[i], i);
    for (size_t k = 0; k < n_; ++k) {
      if (k != i && has((*sets)[k], j)) put((*sets)[k], i);
      drop((*sets)[k], j);
    }
  }
  drop(left_, j);
  // Predecessors of either step precede all successors of either.
  for (size_t k = 0; k < n_; ++k) {
    if (has(later_[i], k)) put_all(earlier_[k], earlier_[i]);
    if (has(earlier_[i], k)) put_all(later_[k], later_[i]);
  }
}

std::vector<size_t> StepDependences::in_order() const {
  std::vector<std::vector<size_t>> reads(n_);
  for (size_t j = 0; j < n_; ++j) {
    for (size_t i = 0; i < n_; ++i) {
      if (has(direct_[j], i)) reads[j].push_back(i);
    }
  }
  std::vector<size_t> order = order_of_steps(reads);
  std::erase_if(order, [&](size_t j) { return !has(left_, j); });
  return order;
}

std::vector<size_t> order_of_steps(const std::vector<std::vector<size_t>>& reads) {
  const size_t n = reads.size();
  std::vector<size_t> missing(n, 0), order;
  std::vector<std::vector<size_t>> readers(n);
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t j = 0; j < n; ++j) {
    missing[j] = reads[j].size();
    for (size_t i : reads[j]) readers[i].push_back(j);
    if (missing[j] == 0) ready.push(j);
  }
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (size_t j : readers[i]) {
      if (--missing[j] == 0) ready.push(j);
    }
  }
  LUMINAL_CHECK(order.size() == n, "the steps of a plan depend on each other in a cycle");
  return order;
}

}  // namespace luminal::search

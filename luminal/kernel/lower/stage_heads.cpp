#include "luminal/kernel/lower/stage_heads.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

// From this many ops on, recomputing costs as much as a local store and load.
constexpr int kWorthBuffering = 8;
// Counting stops here: such a value is expensive enough to be buffered.
constexpr int kDearEnough = 1000;

class Heads {
 public:
  Heads(const TermGraph& graph, const Instances& instances, const InstanceForms& forms,
        const StageLimits& limits)
      : graph_(graph), in_(instances), forms_(forms), limits_(limits) {}

  std::vector<bool> run() {
    heads_.assign(in_.list.size(), false);
    for (int g : forms_.group) {
      if (at(g).reduce_loop >= 0) heads_[static_cast<size_t>(g)] = true;
    }
    heads_[static_cast<size_t>(forms_.group_of(in_.root))] = true;
    // Most expensive first: the values it reads are then computed in its stage only.
    for (int next = dearest_shared(); next >= 0; next = dearest_shared()) {
      heads_[static_cast<size_t>(next)] = true;
    }
    return std::move(heads_);
  }

 private:
  const Instance& at(int i) const { return in_.list[static_cast<size_t>(i)]; }
  bool is_head(int group) const { return heads_[static_cast<size_t>(group)]; }

  // The most expensive group that several stages compute and that is worth a buffer; −1 if there is
  // none.
  int dearest_shared() const {
    const std::vector<int> uses = stages_that_compute();
    int best = -1;
    int best_cost = kWorthBuffering - 1;
    for (int g = 0; g < static_cast<int>(uses.size()); ++g) {
      if (uses[static_cast<size_t>(g)] < 2 || at(g).load || forms_.of(g).loops.empty()) continue;
      if (depends_on_gather(g)) continue;
      const int cost = cost_of(g);
      if (cost > best_cost && fits(g)) {
        best = g;
        best_cost = cost;
      }
    }
    return best;
  }

  // By group: how many stages compute it, given the heads so far.
  std::vector<int> stages_that_compute() const {
    std::vector<int> uses(heads_.size(), 0);
    for (int h = 0; h < static_cast<int>(heads_.size()); ++h) {
      if (!is_head(h) || forms_.group_of(h) != h) continue;
      for (int g : inlined_in(h)) ++uses[static_cast<size_t>(g)];
    }
    return uses;
  }

  // The groups whose values the stage of `head` computes itself, in first-use order.
  std::vector<int> inlined_in(int head) const {
    std::vector<int> order;
    std::vector<bool> seen(heads_.size(), false);
    std::vector<int> stack(at(head).operands.rbegin(), at(head).operands.rend());
    push_dynamic(head, stack);
    while (!stack.empty()) {
      const int g = forms_.group_of(stack.back());
      stack.pop_back();
      if (seen[static_cast<size_t>(g)] || is_head(g)) continue;
      seen[static_cast<size_t>(g)] = true;
      order.push_back(g);
      const auto& operands = at(g).operands;
      stack.insert(stack.end(), operands.rbegin(), operands.rend());
      push_dynamic(g, stack);
    }
    return order;
  }

  void push_dynamic(int i, std::vector<int>& stack) const {
    for (Expr e : at(i).index) {
      for (int dynamic : dynamic_instances(e)) stack.push_back(dynamic);
    }
  }

  bool depends_on_gather(int i) const {
    std::vector<int> stack;
    push_dynamic(i, stack);
    return !stack.empty();
  }

  int cost_of(int i) const {
    if (at(i).load || at(i).operands.empty()) return 0;
    const Term& term = graph_.at(at(i).value).terms[static_cast<size_t>(at(i).term)];
    int cost = std::holds_alternative<OpTerm>(term) ? flops_of(std::get<OpTerm>(term).op) : 0;
    for (int operand : at(i).operands) {
      const int g = forms_.group_of(operand);
      if (!is_head(g)) cost += cost_of(g);
      if (cost > kDearEnough) break;
    }
    return cost;
  }

  bool fits(int head) const {
    return local_bytes(graph_, in_, forms_, head) <= limits_.most_local_bytes / 2;
  }

  const TermGraph& graph_;
  const Instances& in_;
  const InstanceForms& forms_;
  const StageLimits& limits_;
  std::vector<bool> heads_;
};

int64_t element_bytes(DType dtype) { return std::max(bits(dtype), 8) / 8; }

}  // namespace

std::vector<bool> choose_stage_heads(const TermGraph& graph, const Instances& instances,
                                     const InstanceForms& forms, const StageLimits& limits) {
  return Heads(graph, instances, forms, limits).run();
}

int64_t local_bytes(const TermGraph& graph, const Instances& instances, const InstanceForms& forms,
                    int head) {
  const Instance& instance = instances.list[static_cast<size_t>(head)];
  __int128 bytes = element_bytes(graph.at(instance.value).dtype);
  for (int loop : forms.of(head).loops) {
    bytes *= std::max<int64_t>(instances.loops[static_cast<size_t>(loop)].extent.upper_bound(), 1);
    if (bytes > INT64_MAX) return INT64_MAX;
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace luminal::kernel

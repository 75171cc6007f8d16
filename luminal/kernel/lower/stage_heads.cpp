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

  IdVector<InstanceId, bool> run() {
    heads_.resize(in_.list.size());
    for (InstanceId g : forms_.group) {
      if (at(g).reduce_loop.valid()) heads_[g] = true;
    }
    heads_[forms_.group_of(in_.root)] = true;
    // Most expensive first: the values it reads are then computed in its stage only.
    for (InstanceId next = dearest_shared(); next.valid(); next = dearest_shared()) {
      heads_[next] = true;
    }
    return std::move(heads_);
  }

 private:
  const Instance& at(InstanceId i) const { return in_.list[i]; }
  bool is_head(InstanceId group) const { return heads_[group]; }

  // The most expensive group that several stages compute and that is worth a buffer, if there is
  // one.
  InstanceId dearest_shared() const {
    const IdVector<InstanceId, int> uses = stages_that_compute();
    InstanceId best;
    int best_cost = kWorthBuffering - 1;
    for (InstanceId g : uses.ids()) {
      if (uses[g] < 2 || at(g).load || forms_.of(g).loops.empty()) continue;
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
  IdVector<InstanceId, int> stages_that_compute() const {
    IdVector<InstanceId, int> uses(heads_.size(), 0);
    for (InstanceId h : heads_.ids()) {
      if (!is_head(h) || forms_.group_of(h) != h) continue;
      for (InstanceId g : inlined_in(h)) ++uses[g];
    }
    return uses;
  }

  // The groups whose values the stage of `head` computes itself, in first-use order.
  std::vector<InstanceId> inlined_in(InstanceId head) const {
    std::vector<InstanceId> order;
    IdVector<InstanceId, bool> seen(heads_.size());
    std::vector<InstanceId> stack(at(head).operands.rbegin(), at(head).operands.rend());
    push_dynamic(head, stack);
    while (!stack.empty()) {
      const InstanceId g = forms_.group_of(stack.back());
      stack.pop_back();
      if (seen[g] || is_head(g)) continue;
      seen[g] = true;
      order.push_back(g);
      const auto& operands = at(g).operands;
      stack.insert(stack.end(), operands.rbegin(), operands.rend());
      push_dynamic(g, stack);
    }
    return order;
  }

  void push_dynamic(InstanceId i, std::vector<InstanceId>& stack) const {
    for (Expr e : at(i).index) {
      for (InstanceId dynamic : dynamic_instances(e)) stack.push_back(dynamic);
    }
  }

  bool depends_on_gather(InstanceId i) const {
    std::vector<InstanceId> stack;
    push_dynamic(i, stack);
    return !stack.empty();
  }

  int cost_of(InstanceId i) const {
    if (at(i).load || at(i).operands.empty()) return 0;
    const Term& term = graph_.at(at(i).value).terms[static_cast<size_t>(at(i).term)];
    int cost = std::holds_alternative<OpTerm>(term) ? flops_of(std::get<OpTerm>(term).op) : 0;
    for (InstanceId operand : at(i).operands) {
      const InstanceId g = forms_.group_of(operand);
      if (!is_head(g)) cost += cost_of(g);
      if (cost > kDearEnough) break;
    }
    return cost;
  }

  bool fits(InstanceId head) const {
    return local_bytes(graph_, in_, forms_, head) <= limits_.most_local_bytes / 2;
  }

  const TermGraph& graph_;
  const Instances& in_;
  const InstanceForms& forms_;
  const StageLimits& limits_;
  IdVector<InstanceId, bool> heads_;
};

int64_t element_bytes(DType dtype) { return std::max(bits(dtype), 8) / 8; }

}  // namespace

IdVector<InstanceId, bool> choose_stage_heads(const TermGraph& graph, const Instances& instances,
                                              const InstanceForms& forms,
                                              const StageLimits& limits) {
  return Heads(graph, instances, forms, limits).run();
}

int64_t local_bytes(const TermGraph& graph, const Instances& instances, const InstanceForms& forms,
                    InstanceId head) {
  const Instance& instance = instances.list[head];
  __int128 bytes = element_bytes(graph.at(instance.value).dtype);
  for (LoopId loop : forms.of(head).loops) {
    bytes *= std::max<int64_t>(instances.loops[loop].extent.upper_bound(), 1);
    if (bytes > INT64_MAX) return INT64_MAX;
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace luminal::kernel

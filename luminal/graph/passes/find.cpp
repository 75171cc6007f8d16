#include "luminal/graph/find.h"

#include <algorithm>

namespace luminal {

Pattern Pattern::any(std::string name) {
  Pattern pattern;
  pattern.name_ = std::move(name);
  return pattern;
}

Pattern Pattern::op(Op op) {
  Pattern pattern;
  pattern.any_op_ = false;
  pattern.op_ = op;
  return pattern;
}

Pattern Pattern::op(Op op, std::vector<Pattern> inputs) {
  Pattern pattern = Pattern::op(op);
  pattern.any_inputs_ = false;
  pattern.inputs_ = std::move(inputs);
  return pattern;
}

Pattern Pattern::as(std::string name) && {
  name_ = std::move(name);
  return std::move(*this);
}

Pattern Pattern::where(Guard guard) && {
  guards_.push_back(std::move(guard));
  return std::move(*this);
}

// Backtracks over the orders of commutative inputs: what remains to be matched is a list, so that a
// choice made early can be undone by a failure later.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  bool match(const Pattern& pattern, NodeId id, Match& match) const {
    std::vector<Task> tasks = {{&pattern, id, false}};
    return run(tasks, match.bound);
  }

 private:
  struct Task {
    const Pattern* pattern;
    NodeId node;
    bool only_guards;  // the inputs have matched: check what must hold in the end
  };

  bool run(std::vector<Task> tasks, std::map<std::string, NodeId>& bound) const {
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      const Pattern& pattern = *task.pattern;
      const Node& node = graph_.node(task.node);
      if (task.only_guards) {
        const auto holds = [&](const Pattern::Guard& guard) { return guard(graph_, task.node); };
        if (!std::all_of(pattern.guards_.begin(), pattern.guards_.end(), holds)) return false;
        continue;
      }
      if (!pattern.any_op_ && node.op != pattern.op_) return false;
      if (!pattern.name_.empty()) {
        auto [it, added] = bound.emplace(pattern.name_, task.node);
        if (!added && it->second != task.node) return false;
      }
      tasks.push_back({&pattern, task.node, true});
      if (pattern.any_inputs_) continue;
      if (pattern.inputs_.size() != node.inputs.size()) return false;
      if (commutes(node.op)) {
        std::map<std::string, NodeId> saved = bound;
        std::vector<Task> straight = tasks;
        push_inputs(pattern, node, {0, 1}, straight);
        if (run(std::move(straight), bound)) return true;
        bound = std::move(saved);
        push_inputs(pattern, node, {1, 0}, tasks);
      } else {
        std::vector<size_t> order(node.inputs.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        push_inputs(pattern, node, order, tasks);
      }
    }
    return true;
  }

  // The last task runs first, so inputs are pushed from the right.
  static void push_inputs(const Pattern& pattern, const Node& node,
                          const std::vector<size_t>& order, std::vector<Task>& tasks) {
    for (size_t i = order.size(); i-- > 0;) {
      tasks.push_back({&pattern.inputs_[i], node.inputs[order[i]], false});
    }
  }

  const Graph& graph_;
};

std::vector<Match> find(const Graph& graph, const Pattern& pattern) {
  std::vector<Match> matches;
  const Matcher matcher(graph);
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.node(NodeId{i}).removed) continue;
    Match match{NodeId{i}, {}};
    if (matcher.match(pattern, match.root, match)) matches.push_back(std::move(match));
  }
  return matches;
}

}  // namespace luminal

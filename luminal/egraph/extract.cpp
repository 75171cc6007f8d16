#include "luminal/egraph/extract.h"

#include "luminal/base/check.h"

#include <functional>
#include <queue>
#include <tuple>

namespace luminal::egraph {
namespace {

uint64_t add_costs(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = Extraction::kNoTerm - 1;
  return a > kMost - b ? kMost : a + b;
}

}  // namespace

// Knuth's form of Dijkstra's algorithm: a node is ready when all its child classes are settled.
Extraction::Extraction(const Snapshot& snapshot, const Schema& schema)
    : costs_(snapshot.classes(), kNoTerm), best_(snapshot.classes()) {
  using Ready = std::tuple<uint64_t, uint32_t>;  // cost, node: ties go to the lower node
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<uint32_t> waiting(snapshot.nodes());  // distinct child classes not settled yet
  for (uint32_t c = 0; c < snapshot.classes(); ++c) {
    for (NodeId parent : snapshot.parents(ClassId{c})) ++waiting[parent.index()];
  }
  const auto make_ready = [&](NodeId id) {
    const Node& node = snapshot.node(id);
    const Function& function = schema.function(node.function);
    if (!function.extractable || node.subsumed) return;
    uint64_t cost = function.cost;
    for (const Child& child : snapshot.children(node)) {
      cost = add_costs(cost, child.class_id.valid() ? costs_[child.class_id.index()] : 1);
    }
    ready.emplace(cost, id.value);
  };
  for (uint32_t n = 0; n < snapshot.nodes(); ++n) {
    if (waiting[n] == 0) make_ready(NodeId{n});
  }
  while (!ready.empty()) {
    const auto [cost, n] = ready.top();
    ready.pop();
    const ClassId id = snapshot.node(NodeId{n}).class_id;
    if (best_[id.index()].valid()) continue;
    best_[id.index()] = NodeId{n};
    costs_[id.index()] = cost;
    for (NodeId parent : snapshot.parents(id)) {
      if (--waiting[parent.index()] == 0) make_ready(parent);
    }
  }
}

// On a stack of its own: terms can be as deep as the e-graph is large.
std::string print_term(const Database& database, const Snapshot& snapshot,
                       const Extraction& extraction, ClassId id) {
  struct Open {
    const Node* node;
    size_t next_child;
  };
  std::string out;
  std::vector<Open> stack;
  const auto open = [&](ClassId c) {
    LUMINAL_CHECK(extraction.best(c).valid(), "a class without a finite term was extracted");
    const Node& node = snapshot.node(extraction.best(c));
    out += "(" + database.schema.function(node.function).name;
    stack.push_back({.node = &node, .next_child = 0});
  };
  open(id);
  while (!stack.empty()) {
    Open& top = stack.back();
    const std::span<const Child> children = snapshot.children(*top.node);
    if (top.next_child == children.size()) {
      out += ")";
      stack.pop_back();
      continue;
    }
    const size_t i = top.next_child++;
    out += " ";
    if (children[i].class_id.valid()) {
      open(children[i].class_id);
    } else {
      out +=
          database.print(children[i].value, database.schema.function(top.node->function).inputs[i]);
    }
  }
  return out;
}

}  // namespace luminal::egraph

#include "luminal/egraph/extract/extract_dag.h"

#include "luminal/base/errors.h"

#include <map>
#include <string>
#include <utility>

namespace luminal::egraph {

DagExtraction::DagExtraction(const Snapshot& snapshot, const Database& database)
    : snapshot_(snapshot),
      database_(database),
      best_(snapshot.classes()),
      visited_(snapshot.classes()) {
  settle_classes(
      snapshot,
      [this](const Node& node) {
        const bool extractable = database_.schema.function(node.function).extractable;
        return extractable && !node.subsumed ? cost_with_arguments(node) : kNoTermCost;
      },
      [this](ClassId id, NodeId node, uint64_t) { best_[id.index()] = node; });
}

template <typename Visit>
void DagExtraction::for_each_argument(const Node& node, const Visit& visit) const {
  const Function& function = database_.schema.function(node.function);
  for (size_t i = 0; const Child& child : snapshot_.children(node)) {
    if (child.class_id.valid()) {
      visit(child.class_id);
    } else {
      database_.for_each_id(child.value, function.inputs[i],
                            [&](Value id) { visit(snapshot_.class_of(id)); });
    }
    ++i;
  }
}

uint64_t DagExtraction::own_cost(const Node& node) const {
  const Function& function = database_.schema.function(node.function);
  uint64_t cost = function.cost;
  for (size_t i = 0; const Child& child : snapshot_.children(node)) {
    cost += base_values(child.value, function.inputs[i++]);
  }
  return cost;
}

uint64_t DagExtraction::base_values(Value value, SortId sort) const {
  if (database_.is_equality(sort)) return 0;
  if (!database_.is_container(sort)) return 1;
  const Containers& containers = database_.constants.containers;
  uint64_t count = 0;
  for (size_t i = 0; const Value item : containers.items(sort, value)) {
    count += base_values(item, containers.item_sort(sort, i++));
  }
  return count;
}

// Uses an explicit stack: terms can be as deep as the e-graph is large.
void DagExtraction::visit(ClassId root) const {
  struct Open {
    ClassId id;
    std::vector<ClassId> left;
  };
  std::vector<Open> open;
  const auto enter = [&](ClassId id) {
    if (visited_[id.index()] == visit_number_) return;
    visited_[id.index()] = visit_number_;
    open.push_back({.id = id, .left = {}});
    for_each_argument(snapshot_.node(best(id)),
                      [&](ClassId argument) { open.back().left.push_back(argument); });
  };
  enter(root);
  while (!open.empty()) {
    if (open.back().left.empty()) {
      order_.push_back(best(open.back().id));
      open.pop_back();
      continue;
    }
    const ClassId next = open.back().left.back();
    open.back().left.pop_back();
    enter(next);
  }
}

uint64_t DagExtraction::cost_with_arguments(const Node& node) const {
  ++visit_number_;
  order_.clear();
  for_each_argument(node, [&](ClassId argument) { visit(argument); });
  uint64_t sum = own_cost(node);
  for (NodeId under : order_) sum += own_cost(snapshot_.node(under));
  return sum;
}

uint64_t DagExtraction::cost(ClassId id) const {
  return cost_with_arguments(snapshot_.node(best(id)));
}

std::vector<NodeId> DagExtraction::nodes_under(ClassId id) const {
  ++visit_number_;
  order_.clear();
  visit(id);
  return std::move(order_);
}

namespace {

// Writes the DAG as a program: a node with several users becomes a `let`.
class DagWriter {
 public:
  DagWriter(const Database& database, const Snapshot& snapshot)
      : database_(database), snapshot_(snapshot) {}

  std::string write(const std::vector<NodeId>& nodes) {
    std::map<ClassId, uint32_t> uses;
    for (NodeId id : nodes) {
      for (const Child& child : snapshot_.children(snapshot_.node(id))) {
        if (child.class_id.valid()) ++uses[child.class_id];
      }
    }
    std::string lets;
    for (NodeId id : nodes) {
      const Node& node = snapshot_.node(id);
      std::string text = call(node);
      const bool is_root = id == nodes.back();
      if (is_root) return lets + text;
      if (uses[node.class_id] > 1 && node.child_count > 0) {
        const std::string name = "$t" + std::to_string(++names_);
        lets += "(let " + name + " " + text + ")\n";
        text = name;
      }
      texts_[node.class_id] = std::move(text);
    }
    return lets;
  }

 private:
  std::string call(const Node& node) const {
    const Function& function = database_.schema.function(node.function);
    std::string text = "(" + function.name;
    for (size_t i = 0; const Child& child : snapshot_.children(node)) {
      text += " " + (child.class_id.valid() ? texts_.at(child.class_id)
                                            : database_.print(child.value, function.inputs[i]));
      ++i;
    }
    return text + ")";
  }

  const Database& database_;
  const Snapshot& snapshot_;
  std::map<ClassId, std::string> texts_;
  size_t names_ = 0;
};

}  // namespace

ExtractedDag extract_dag(const Database& database, Value value, SortId sort) {
  if (!database.is_equality(sort)) {
    throw UserError("values of sort " + database.schema.sort(sort).name +
                    " are not classes; extract a term instead");
  }
  const Snapshot snapshot = take_snapshot(database);
  const DagExtraction extraction(snapshot, database);
  const ClassId root = snapshot.class_of(value);
  if (!extraction.has_term(root)) fail_without_term(database, value, sort);
  const std::vector<NodeId> nodes = extraction.nodes_under(root);
  ExtractedDag result{.nodes = {},
                      .cost = extraction.cost(root),
                      .text = DagWriter(database, snapshot).write(nodes)};
  for (NodeId id : nodes) {
    const Node& node = snapshot.node(id);
    DagNode& shown = result.nodes.emplace_back();
    shown.function = node.function;
    shown.value = snapshot.value(node.class_id);
    for (const Child& child : snapshot.children(node)) {
      shown.arguments.push_back(child.class_id.valid() ? snapshot.value(child.class_id)
                                                       : child.value);
    }
  }
  return result;
}

}  // namespace luminal::egraph

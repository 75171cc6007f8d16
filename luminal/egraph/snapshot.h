// Snapshot: the classes and nodes of an e-graph as dense arrays, for searches over them.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <span>
#include <vector>

namespace luminal::egraph {

class Database;

using ClassId = Id<struct ClassTag>;
using NodeId = Id<struct EGraphNodeTag>;

// An argument of a node: a class, or a container or a value of a base or host sort.
struct Child {
  ClassId class_id;  // invalid for a container, base or host value
  Value value;       // canonical
};

// A row of a constructor.
struct Node {
  FunctionId function;
  ClassId class_id;  // the class it belongs to
  RuleId origin;     // the rule that made it, or kInitial
  bool subsumed = false;
  uint32_t first_child = 0;
  uint32_t child_count = 0;
};

// Numbered 0 … n-1: classes by canonical id, nodes by class, then function, then arguments, so
// equal e-graphs have equal snapshots. Later changes of the e-graph aren't reflected.
class LUMINAL_API Snapshot {
 public:
  size_t classes() const { return classes_.size(); }
  size_t nodes() const { return nodes_.size(); }

  SortId sort(ClassId id) const { return classes_[id.index()].sort; }
  // The canonical value of a class, to pass to `EGraph::lookup` and similar functions.
  Value value(ClassId id) const { return classes_[id.index()].value; }
  const Node& node(NodeId id) const { return nodes_[id.index()]; }
  // The nodes of a class; empty if all of them were deleted.
  std::span<const Node> nodes_of(ClassId id) const;
  NodeId first_node_of(ClassId id) const { return NodeId{classes_[id.index()].first_node}; }
  std::span<const Child> children(const Node& node) const {
    return std::span(children_).subspan(node.first_child, node.child_count);
  }
  // The nodes with this class as a child, directly or in a container; sorted, no duplicates.
  std::span<const NodeId> parents(ClassId id) const;
  // The rules whose unions formed this class, sorted; congruence is attributed to the rule that led
  // to it, and kInitial stands for unions outside of rules.
  std::span<const RuleId> rules_behind(ClassId id) const;

  // The class of a value of an equality sort, canonical or not.
  ClassId class_of(Value value) const { return class_of_[value.index()]; }

 private:
  friend Snapshot take_snapshot(const Database& database);

  struct Class {
    SortId sort;
    Value value;
    uint32_t first_node = 0;
    uint32_t first_parent = 0;
    uint32_t first_rule = 0;
  };

  // The list of a class ends where that of the next class begins.
  template <typename T>
  std::span<const T> list(const std::vector<T>& items, uint32_t Class::* first, ClassId id) const;

  std::vector<Class> classes_;
  std::vector<Node> nodes_;
  std::vector<Child> children_;
  std::vector<NodeId> parents_;
  std::vector<RuleId> rules_;
  std::vector<ClassId> class_of_;  // by id of the union-find
};

// The database must be rebuilt.
Snapshot take_snapshot(const Database& database);

}  // namespace luminal::egraph

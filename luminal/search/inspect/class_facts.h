// ClassFacts: what is known about each Value class of an e-graph, and what is missing: whether a
// kernel could compute it, its type, and the rule responsible if it has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/search/terms/lower_graph.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {

struct ClassFact {
  egraph::ClassId id;
  std::optional<Type> type;
  bool computable = false;  // a term of it can be computed from sources, without the class itself
  // Where two terms have different types: the second, and the rule that made or joined it.
  std::optional<Type> other_type;
  std::string joined_by;
};

class ClassFacts {
 public:
  // Doesn't throw for a broken e-graph: it is made for those.
  ClassFacts(const Graph& graph, const LoweredGraph& lowered, Terms& terms);

  const std::vector<ClassFact>& classes() const { return facts_; }
  const egraph::Snapshot& snapshot() const { return snapshot_; }
  // Of a node of the graph; null if nothing needs it.
  const ClassFact* of(NodeId node) const;
  const ClassFact* of(egraph::ClassId id) const;

  // Whether lowering knows the term; `why` says why not.
  bool is_usable(const egraph::Node& node, std::string* why = nullptr) const;
  // The Value classes that a term reads.
  std::vector<egraph::ClassId> operands(const egraph::Node& node) const;
  // `(Add #3 #5)`.
  std::string text(const egraph::Node& node) const;
  // The rules behind a class's terms and unions, sorted.
  std::vector<std::string> rules(egraph::ClassId id) const;
  // The first node of the graph with this value, if there is one.
  std::optional<NodeId> node_of(egraph::ClassId id) const;

 private:
  std::optional<Type> type_of(const egraph::Node& node) const;
  std::optional<int64_t> source_of(const egraph::Node& load) const;
  bool learn(ClassFact& fact);

  const Graph& graph_;
  const LoweredGraph& lowered_;
  Terms& terms_;
  egraph::Snapshot snapshot_;
  std::vector<ClassFact> facts_;
  std::vector<int> number_of_;  // by class of the snapshot: into facts_, or -1
};

}  // namespace luminal::search

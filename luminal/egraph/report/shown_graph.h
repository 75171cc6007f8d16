// ShownGraph: which rows and classes an export shows, and what it says about the rest.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

// A living row.
struct ShownNode {
  FunctionId function;
  uint32_t row = 0;
  uint32_t number = 0;  // among the living rows of its function
};

struct ShownClass {
  Value value;
  SortId sort;
  std::vector<uint32_t> nodes;     // indices of ShownGraph::nodes; functions after constructors
  std::vector<std::string> names;  // of globals that stand for it
};

// A node is in the class of its value, where that is of an equality sort. Other rows are facts
// about their arguments, and shown where those are.
struct ShownGraph {
  std::vector<ShownNode> nodes;                     // class by class, then the facts
  std::vector<ShownClass> classes;                  // with a shown node each
  std::vector<uint32_t> facts;                      // indices of `nodes`
  std::unordered_map<uint32_t, uint32_t> class_of;  // from values to indices of `classes`
  size_t all_nodes = 0;
  size_t all_classes = 0;  // with a node each
  std::string note;        // what is left out and how to see it; empty where all is shown

  bool shows(Value value) const { return class_of.contains(value.value); }
};

// The database must be rebuilt. UserError where `around` is no class.
ShownGraph choose_shown(const Database& database, const ExportOptions& options);

// The egraph-serialize format (nodes with op, children, eclass, cost and subsumed; root_eclasses;
// class_data), laid out as egglog does: a base value is a node in a class of its own, a function's
// row a node in the class of its value, a relation's row alone in a class. Where something is left
// out, classes that nodes mention hold a node "[...]", and `truncated` says what is missing.
std::string export_json(const Database& database, const ExportOptions& options);

// Graphviz: a cluster per class, base values inside of the nodes they stand in.
std::string export_dot(const Database& database, const ExportOptions& options);

}  // namespace luminal::egraph

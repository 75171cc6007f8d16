// ShownGraph: the rows and classes that an export shows, and a note on what it leaves out.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

// A live row.
struct ShownNode {
  FunctionId function;
  uint32_t row = 0;
  uint32_t number = 0;  // among the live rows of its function
};

struct ShownClass {
  Value value;
  SortId sort;
  std::vector<uint32_t> nodes;     // indices into ShownGraph::nodes; functions after constructors
  std::vector<std::string> names;  // of globals bound to the class
};

// A node belongs to the class of its value if that is of an equality sort. Other rows are facts
// about their arguments, and are shown with them.
struct ShownGraph {
  std::vector<ShownNode> nodes;                     // class by class, then the facts
  std::vector<ShownClass> classes;                  // each with at least one shown node
  std::vector<uint32_t> facts;                      // indices into `nodes`
  std::unordered_map<uint32_t, uint32_t> class_of;  // from values to indices into `classes`
  size_t all_nodes = 0;
  size_t all_classes = 0;  // classes with nodes, shown or not
  std::string note;        // what is left out and how to show it; empty if nothing is

  bool shows(Value value) const { return class_of.contains(value.value); }
};

// The database must be rebuilt. UserError if `around` is no class.
ShownGraph choose_shown(const Database& database, const ExportOptions& options);

// The egraph-serialize format (nodes with op, children, eclass, cost and subsumed; root_eclasses;
// class_data), laid out as egglog does: a base value is a node in a class of its own, a function's
// row is a node in the class of its value, a relation's row is alone in a class. If something is
// left out, classes that nodes mention hold a node "[...]", and `truncated` says what is missing.
std::string export_json(const Database& database, const ExportOptions& options);

// Graphviz: one cluster per class; base values are drawn inside the nodes that use them.
std::string export_dot(const Database& database, const ExportOptions& options);

}  // namespace luminal::egraph

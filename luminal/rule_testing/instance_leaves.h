// InstanceLeaves: the nodes of a random instance that the pattern leaves open: inputs, views,
// constants; and the data of its leaves.
#pragma once

#include <map>

#include "luminal/graph/graph.h"
#include "luminal/rule_testing/random_values.h"
#include "luminal/rule_testing/rule_instance.h"

namespace luminal::rule_testing {

using search::Number;
using search::Type;

// Thrown if the random parts don't fit together; another try may succeed.
struct DoesNotFit {};

class InstanceLeaves {
 public:
  InstanceLeaves(RuleInstance& out, Random& random, Values values, Role role)
      : out_(out), random_(random), values_(values), role_(role) {}

  // Mostly an input; sometimes a view of a larger one, a constant, or an existing node.
  NodeId leaf(const Type& type);
  NodeId input(const Type& type);
  NodeId full(const Number& number, const Dims& dims);
  NodeId view(NodeId operand, const IndexMap& map);
  NodeId add(Node node);

  // Restricts the data of `index` to valid indices into `rows` rows.
  void names_rows(NodeId index, Expr rows);
  void fill();

 private:
  TensorData indices(const TensorData& like, int64_t rows);

  RuleInstance& out_;
  Random& random_;
  Values values_;
  Role role_;                       // of inputs
  std::map<NodeId, int64_t> rows_;  // by index tensor: the number of rows
  int inputs_ = 0;
};

}  // namespace luminal::rule_testing

// find: the places of a graph that look like a pattern.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"

namespace luminal {

// A tree of ops to look for. Inputs of Add, Mul, BitAnd and Equal match in either order. A name
// binds the node; the same name twice must bind the same node.
class LUMINAL_API Pattern {
 public:
  using Guard = std::function<bool(const Graph&, NodeId)>;

  // Any node.
  static Pattern any(std::string name = {});
  // A node of this op, with any inputs, or with inputs that match in turn.
  static Pattern op(Op op);
  static Pattern op(Op op, std::vector<Pattern> inputs);

  Pattern as(std::string name) &&;
  // The node must also satisfy this; guards run after the inputs have matched.
  Pattern where(Guard guard) &&;

 private:
  friend class Matcher;
  bool any_op_ = true;
  bool any_inputs_ = true;
  Op op_ = Op::Input;
  std::vector<Pattern> inputs_;
  std::string name_;
  std::vector<Guard> guards_;
};

struct Match {
  NodeId root;
  std::map<std::string, NodeId> bound;
};

// The matches in order of their root's id; one per root, the first in input order.
LUMINAL_API std::vector<Match> find(const Graph& graph, const Pattern& pattern);

}  // namespace luminal

// Queries on nodes for titles of kernels: constants and factors, seen through views and casts.
#pragma once

#include <optional>

#include "luminal/graph/graph.h"

namespace luminal {

class NodeForms {
 public:
  // The graph must outlive it.
  explicit NodeForms(const Graph& graph) : graph_(graph) {}

  const Node& node(NodeId id) const { return graph_.node(id); }
  bool is(NodeId id, Op op) const { return node(id).op == op; }

  NodeId behind(NodeId id) const;  // behind views and casts

  // The constant that all elements equal, if any.
  std::optional<double> constant(NodeId id) const;
  // value = base · factor, with all constant factors taken out.
  struct Scaled {
    NodeId base;
    double factor;
  };
  Scaled scaled(NodeId id) const;
  // The node 2^x, if the node is 1 / (2^x + 1).
  std::optional<NodeId> sigmoid_power(NodeId id) const;
  // v, if the node is v · 1 / (2^(−v·log2 e) + 1).
  std::optional<NodeId> silu_operand(NodeId id) const;

 private:
  const Graph& graph_;
};

}  // namespace luminal

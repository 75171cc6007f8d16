// Queries on nodes for pattern matchers: constants, factors and projections, seen through views and
// casts.
#pragma once

#include <optional>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal::search {

class NodeForms {
 public:
  // The graph must outlive it.
  NodeForms(const Graph& graph, const std::vector<NodeId>& roots);

  const Node& node(NodeId id) const { return graph_.node(id); }
  bool is(NodeId id, Op op) const { return node(id).op == op; }
  // Whether it must be in memory at the end.
  bool is_root(NodeId id) const { return is_root_[id.index()]; }
  // The needed nodes, in topological order.
  const std::vector<NodeId>& order() const { return order_; }
  // The needed nodes that read it, once per use.
  const std::vector<NodeId>& readers(NodeId id) const { return readers_[id.index()]; }

  NodeId behind_views(NodeId id) const;
  NodeId behind_casts(NodeId id) const;
  NodeId behind(NodeId id) const;  // behind views and casts

  // The value that would be stored: of an f32 cast from 16 bits, the 16-bit one.
  NodeId as_stored(NodeId id) const;

  // The constant that all elements equal, if any.
  std::optional<double> constant(NodeId id) const;
  // The other operand of a commutative node, if one is the constant `number`.
  std::optional<NodeId> beside_constant(NodeId id, Op op, double number) const;
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

  // A projection (GEMM) of a tensor's rows: Reduce Sum (Mul (View rows) (View matrix)).
  struct Projection {
    NodeId rows;     // behind views and casts
    NodeId sum;      // the Reduce
    Expr columns;    // of the result
    Expr summed;     // features of the rows
    NodeId storing;  // the value that would be stored: after a cast, with a bias
  };
  // The projection behind a value as it is stored.
  std::optional<Projection> projection(NodeId id) const;
  // The projection that a Reduce is.
  std::optional<Projection> product(NodeId sum) const;

 private:
  const Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<bool> is_root_;
  std::vector<std::vector<NodeId>> readers_;
};

}  // namespace luminal::search

// What matchers of patterns ask of nodes: constants, factors, projections, seen through views and
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
  // That it must be in memory at the end.
  bool is_root(NodeId id) const { return is_root_[id.index()]; }
  // Nodes that are needed, in an order that data allows.
  const std::vector<NodeId>& order() const { return order_; }
  // The needed nodes that read it, once per use.
  const std::vector<NodeId>& readers(NodeId id) const { return readers_[id.index()]; }

  NodeId behind_views(NodeId id) const;
  NodeId behind_casts(NodeId id) const;
  NodeId behind(NodeId id) const;  // behind any of both

  // What memory would hold of a value that is computed in: f32 made of 16 bits is those 16 bits.
  NodeId as_stored(NodeId id) const;

  // The number that every element of it is.
  std::optional<double> constant(NodeId id) const;
  // The other operand of a commutative node, where one of both is `number` all over.
  std::optional<NodeId> beside_constant(NodeId id, Op op, double number) const;
  // value = base · factor, with all constant factors taken out.
  struct Scaled {
    NodeId base;
    double factor;
  };
  Scaled scaled(NodeId id) const;
  // The power of two of 1 / (2^x + 1).
  std::optional<NodeId> sigmoid_power(NodeId id) const;
  // v of v · 1 / (2^(−v·log2 e) + 1).
  std::optional<NodeId> silu_operand(NodeId id) const;

  // A product of a tensor's rows with a matrix: Reduce Sum (Mul (View rows) (View matrix)).
  struct Projection {
    NodeId rows;     // behind views and casts
    NodeId sum;      // the Reduce
    Expr columns;    // of the result
    Expr summed;     // features of the rows
    NodeId storing;  // the value that memory would hold of it: after a cast, with a bias
  };
  // Of a value as it is stored.
  std::optional<Projection> projection(NodeId id) const;
  // Of the Reduce itself.
  std::optional<Projection> product(NodeId sum) const;

 private:
  const Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<bool> is_root_;
  std::vector<std::vector<NodeId>> readers_;
};

}  // namespace luminal::search

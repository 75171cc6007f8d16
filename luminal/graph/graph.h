// Graph: what is to be computed, as primitives over tensors with symbolic dims.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/node.h"
#include "luminal/graph/tensor_data.h"

namespace luminal {

class Graph;
class Tensor;

struct Output {
  NodeId node;
  std::string name;  // empty for a kept tensor
};

// After a run, `state` holds `value`.
struct StateUpdate {
  NodeId state;
  NodeId value;
};

// Something shown after each run: see Tensor::print and Tensor::diff.
struct Probe {
  enum class Kind : uint8_t { Print, Diff };
  Kind kind;
  NodeId node;
  std::string label;  // Print: its title; Diff: the file's path
  double atol = 0;
  double rtol = 0;
};

// Where a graph is: shared with its tensors, which so follow a graph that moves.
struct GraphHome {
  Graph* graph = nullptr;  // null once the graph is gone
};

// Owns its nodes. When it moves, its tensors belong to the new place; clone() copies.
class LUMINAL_API Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&& other) noexcept;  // `other` is empty then
  Graph& operator=(Graph&& other) noexcept;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // An empty graph that lives as long as one of its tensors does, or a copy of the pointer.
  static std::shared_ptr<Graph> shared();

  // Leaves with a name, unique in the graph.
  Tensor input(std::string_view name, Dims dims, DType dtype = DType::F32);
  Tensor weight(std::string_view name, Dims dims, DType dtype = DType::F32);
  Tensor state(std::string_view name, Dims dims, DType dtype = DType::F32);
  // Sets what `state` holds after a run: same dims and dtype; once per state. All nodes, and an
  // output of the state itself, see its value before the run.
  void update(const Tensor& state, const Tensor& value);
  // A scalar, dims [].
  Tensor constant(const Scalar& value, DType dtype);
  // A tensor with known elements: a weight with a name of its own and its data set.
  Tensor literal(TensorData data);
  Tensor literal(const NestedList& values, DType dtype = DType::F32);

  // The named leaf or output; none if there is no such name.
  std::optional<Tensor> find(std::string_view name);
  std::optional<NodeId> find_leaf(std::string_view name) const;
  // An output by its name, or a kept tensor by its label.
  std::optional<NodeId> find_output(std::string_view name) const;

  // Node inspection. Ids are dense from 0; a removed node stays as a gap.
  size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const;
  Tensor tensor(NodeId id);
  // How messages name a node: 'x', or %12 (add).
  std::string describe(NodeId id) const;

  const std::vector<NodeId>& leaves() const { return leaves_; }  // in order of creation
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<StateUpdate>& updates() const { return updates_; }
  const std::vector<Probe>& probes() const { return probes_; }
  // Whether data was set on a leaf; loads nothing.
  bool has_data(NodeId leaf) const { return data_.contains(leaf); }
  // The data set on a leaf, loaded if it is deferred; none if it has none.
  std::optional<TensorData> data(NodeId leaf) const;

  // Adds a node that `verify_node` accepts; what the primitives and parsers are made of.
  Tensor add(Node node);

  // The same nodes with the same ids, in a graph of its own.
  std::unique_ptr<Graph> clone() const;

  // The same for all of a graph's life, and no other graph's. Doesn't keep it alive.
  const std::shared_ptr<GraphHome>& home() const { return home_; }

 private:
  friend class Tensor;
  friend class GraphEditor;
  Tensor leaf(Role role, std::string_view name, Dims dims, DType dtype);
  void take(Graph& other) noexcept;
  // The home as tensors hold it: of a shared graph, with a share in it.
  std::shared_ptr<GraphHome> held_home() const;

  std::shared_ptr<GraphHome> home_;
  std::weak_ptr<const Graph> self_;  // of a shared graph
  std::deque<Node> nodes_;           // references to nodes and their dims stay good while it grows
  std::vector<NodeId> leaves_;
  std::unordered_map<std::string, NodeId> leaf_names_;
  std::vector<Output> outputs_;
  std::vector<StateUpdate> updates_;
  std::vector<Probe> probes_;
  std::map<NodeId, std::variant<TensorData, DataLoader>> data_;
};

}  // namespace luminal

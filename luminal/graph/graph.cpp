#include "luminal/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/infer.h"
#include "luminal/graph/tensor.h"
#include "luminal/shape/scalar.h"

namespace luminal {

Graph::Graph() : home_(std::make_shared<GraphHome>(this)) {}

std::shared_ptr<Graph> Graph::shared() {
  auto graph = std::make_shared<Graph>();
  graph->self_ = graph;
  return graph;
}

std::shared_ptr<GraphHome> Graph::held_home() const {
  const std::shared_ptr<const Graph> self = self_.lock();
  return self == nullptr ? home_ : std::shared_ptr<GraphHome>(self, home_.get());
}

Graph::~Graph() { home_->graph = nullptr; }

Graph::Graph(Graph&& other) noexcept : Graph() { take(other); }

Graph& Graph::operator=(Graph&& other) noexcept {
  if (this != &other) take(other);
  return *this;
}

// `other` gets a new home, so that it can be used again. Running out of memory here ends the
// program.
void Graph::take(Graph& other) noexcept {
  home_->graph = nullptr;  // tensors of what was here before belong to nothing
  home_ = std::exchange(other.home_, std::make_shared<GraphHome>(&other));
  home_->graph = this;
  nodes_ = std::exchange(other.nodes_, {});
  leaves_ = std::exchange(other.leaves_, {});
  leaf_names_ = std::exchange(other.leaf_names_, {});
  outputs_ = std::exchange(other.outputs_, {});
  updates_ = std::exchange(other.updates_, {});
  probes_ = std::exchange(other.probes_, {});
  data_ = std::exchange(other.data_, {});
}

const Node& Graph::node(NodeId id) const {
  LUMINAL_CHECK(id.index() < nodes_.size(), "no such node");
  return nodes_[id.index()];
}

Tensor Graph::tensor(NodeId id) {
  LUMINAL_CHECK(id.index() < nodes_.size(), "no such node");
  return Tensor(this, id);
}

std::string Graph::describe(NodeId id) const {
  const Node& n = node(id);
  if (n.op == Op::Input) return fmt::format("'{}'", n.as<InputAttr>().name);
  if (!n.label.empty()) return fmt::format("'{}'", n.label);
  if (n.op == Op::Custom) {
    return fmt::format("%{} (custom op '{}')", id.value, n.as<CustomAttr>().op->name);
  }
  return fmt::format("%{} ({})", id.value, luminal::name(n.op));
}

Tensor Graph::add(Node node) {
  TensorType type = infer_type(*this, node);
  node.dims = std::move(type.dims);
  node.dtype = type.dtype;
  NodeId id{static_cast<uint32_t>(nodes_.size())};
  if (node.op == Op::Input) {
    const std::string& name = node.as<InputAttr>().name;
    if (name.empty()) throw UserError("input: a leaf needs a name; give it one");
    if (!leaf_names_.emplace(name, id).second) {
      throw UserError(fmt::format(
          "input: the graph already has a leaf named '{}'; use another name, or Graph::find",
          name));
    }
    leaves_.push_back(id);
  }
  nodes_.push_back(std::move(node));
  return Tensor(this, id);
}

Tensor Graph::leaf(Role role, std::string_view name, Dims dims, DType dtype) {
  for (Expr dim : dims) {
    if (dim.to_int().value_or(0) < 0) {
      throw UserError(
          fmt::format("input '{}': dim {} of {} is negative; give its size, or Expr::var for one "
                      "that each run binds",
                      name, dim.text(), text(dims)));
    }
    if (dim.lower_bound() < 0 || dim.uses_indices()) {
      throw UserError(fmt::format(
          "input '{}': dim {} of {} may be negative; give its variable a lower bound of 0 or more",
          name, dim.text(), text(dims)));
    }
  }
  return add({.op = Op::Input,
              .dtype = dtype,
              .dims = std::move(dims),
              .inputs = {},
              .attribute = InputAttr{role, std::string(name)},
              .label = {}});
}

Tensor Graph::input(std::string_view name, Dims dims, DType dtype) {
  return leaf(Role::Input, name, std::move(dims), dtype);
}
Tensor Graph::weight(std::string_view name, Dims dims, DType dtype) {
  return leaf(Role::Weight, name, std::move(dims), dtype);
}
Tensor Graph::state(std::string_view name, Dims dims, DType dtype) {
  return leaf(Role::State, name, std::move(dims), dtype);
}

void Graph::update(const Tensor& state, const Tensor& value) {
  const Node& s = state.node();
  if (&state.graph() != this || &value.graph() != this) {
    throw UserError("update: state and value must belong to this graph");
  }
  if (s.op != Op::Input || s.as<InputAttr>().role != Role::State) {
    throw UserError(
        fmt::format("update: {} is not a state; make it with Graph::state", state.describe()));
  }
  if (!same_dims(s.dims, value.dims()) || s.dtype != value.dtype()) {
    throw UserError(
        fmt::format("update: state {} is {}{}, the value {} is {}{}; cast or reshape the value",
                    state.describe(), luminal::name(s.dtype), text(s.dims), value.describe(),
                    luminal::name(value.dtype()), text(value.dims())));
  }
  for (const StateUpdate& u : updates_) {
    if (u.state == state.id()) {
      throw UserError(fmt::format("update: state {} already has an update; combine both values",
                                  state.describe()));
    }
  }
  updates_.push_back({state.id(), value.id()});
}

Tensor Graph::constant(const Scalar& value, DType dtype) {
  if (value.kind == Scalar::Kind::Symbolic) {
    if (std::optional<int64_t> known = value.symbolic.to_int()) return constant(*known, dtype);
    return add({.op = Op::Iota,
                .dtype = dtype,
                .dims = {},
                .inputs = {},
                .attribute = IotaAttr{value.symbolic},
                .label = {}});
  }
  ConstantAttr constant;
  if (kind(dtype) == DTypeKind::Float) {
    constant.real = round_to(dtype, value.real);
  } else if (value.kind == Scalar::Kind::Float) {
    constant.integer = float_to_int(dtype, value.real);
  } else {
    constant.integer = wrap_to(dtype, value.integer);
  }
  return add({.op = Op::Constant,
              .dtype = dtype,
              .dims = {},
              .inputs = {},
              .attribute = constant,
              .label = {}});
}

Tensor Graph::literal(TensorData data) {
  std::string name;
  for (size_t n = leaves_.size(); name.empty() || leaf_names_.contains(name); ++n) {
    name = fmt::format("literal.{}", n);
  }
  Tensor result = weight(name, Dims(data.dims.begin(), data.dims.end()), data.dtype);
  return result.set(std::move(data));
}

Tensor Graph::literal(const NestedList& values, DType dtype) { return literal(values.data(dtype)); }

std::optional<Tensor> Graph::find(std::string_view name) {
  std::optional<NodeId> id = find_leaf(name);
  if (!id) id = find_output(name);
  return id ? std::optional(Tensor(this, *id)) : std::nullopt;
}

std::optional<NodeId> Graph::find_leaf(std::string_view name) const {
  auto it = leaf_names_.find(std::string(name));
  return it == leaf_names_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<NodeId> Graph::find_output(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  for (const Output& output : outputs_) {
    if ((output.name.empty() ? node(output.node).label : output.name) == name) return output.node;
  }
  return std::nullopt;
}

std::optional<TensorData> Graph::data(NodeId leaf) const {
  auto it = data_.find(leaf);
  if (it == data_.end()) return std::nullopt;
  if (const auto* data = std::get_if<TensorData>(&it->second)) return *data;
  TensorData loaded = std::get<DataLoader>(it->second)();
  const Node& n = node(leaf);
  bool fits = loaded.dtype == n.dtype && loaded.dims.size() == n.dims.size();
  for (size_t i = 0; fits && i < loaded.dims.size(); ++i) {
    std::optional<int64_t> wanted = n.dims[i].to_int();
    fits = !wanted || *wanted == loaded.dims[i];
  }
  if (!fits) {
    throw UserError(fmt::format("{} is {}{}, but its loader returned {}[{}]", describe(leaf),
                                luminal::name(n.dtype), text(n.dims), luminal::name(loaded.dtype),
                                fmt::join(loaded.dims, ", ")));
  }
  return loaded;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->nodes_ = nodes_;
  copy->leaves_ = leaves_;
  copy->leaf_names_ = leaf_names_;
  copy->outputs_ = outputs_;
  copy->updates_ = updates_;
  copy->probes_ = probes_;
  copy->data_ = data_;
  return copy;
}

}  // namespace luminal

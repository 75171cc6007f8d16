#include "luminal/backends/interp/interp_backend.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "luminal/base/check.h"
#include "luminal/graph/interpret/interpreter.h"

namespace luminal::backends {
namespace {

using runtime::Buffer;
using runtime::Port;
using runtime::PortRole;

PortRole port_role(Role role) {
  switch (role) {
    case Role::Input:
      return PortRole::Input;
    case Role::Weight:
      return PortRole::Weight;
    case Role::State:
      return PortRole::State;
  }
  return PortRole::Input;
}

std::vector<int64_t> resolve(const Dims& dims, const Bindings& bindings) {
  std::vector<int64_t> resolved;
  for (Expr dim : dims) {
    Expr::Value value = dim.evaluate(bindings);
    LUMINAL_CHECK(value.value.has_value(), "a port's dim has no value: " + value.why);
    resolved.push_back(*value.value);
  }
  return resolved;
}

void copy_into(const TensorData& data, const Buffer& buffer) {
  LUMINAL_CHECK(data.bytes.size() == buffer.size(), "a port's buffer has the wrong size");
  if (!data.bytes.empty()) {
    std::memcpy(buffer.writable().data(), data.bytes.data(), data.bytes.size());
  }
}

class InterpProgram : public runtime::Program {
 public:
  InterpProgram(std::shared_ptr<const Graph> graph, PortMap map, LoadOptions options)
      : graph_(std::move(graph)), map_(std::move(map)), options_(options) {
    for (NodeId id : map_.leaves) {
      const Node& node = graph_->node(id);
      const auto& attr = node.as<InputAttr>();
      port_of_leaf_[id] = ports_.size();
      ports_.push_back({port_role(attr.role), node.dtype, node.dims, attr.name});
    }
    for (NodeId id : map_.results) {
      const Node& node = graph_->node(id);
      const DType dtype = options_.float64 && is_float(node.dtype) ? DType::F64 : node.dtype;
      ports_.push_back({PortRole::Output, dtype, node.dims, graph_->describe(id)});
    }
  }

  const std::vector<Port>& ports() const override { return ports_; }

  void run(const Bindings& bindings, std::span<const Buffer> buffers,
           const runtime::StepOptions& options) override {
    auto leaf_data = [&](NodeId id) {
      const size_t port = port_of_leaf_.at(id);
      return TensorData{.dtype = ports_[port].dtype,
                        .dims = resolve(ports_[port].dims, bindings),
                        .bytes = buffers[port].bytes(),
                        .owner = buffers[port].owner()};
    };
    using interpret::Precision;
    interpret::Interpreter interpreter(
        *graph_, bindings, leaf_data,
        {.precision = options_.float64 ? Precision::Float64 : Precision::AsDeclared,
         .debug = options.debug});
    // All at once, so that every read of a state comes before its update.
    std::vector<NodeId> wanted = map_.results;
    for (const StateUpdate& update : graph_->updates()) wanted.push_back(update.value);
    std::vector<TensorData> values = interpreter.values(wanted);
    for (size_t i = 0; i < map_.results.size(); ++i) {
      copy_into(values[i], buffers[map_.leaves.size() + i]);
    }
    for (size_t i = 0; i < graph_->updates().size(); ++i) {
      const size_t port = port_of_leaf_.at(graph_->updates()[i].state);
      copy_into(values[map_.results.size() + i].cast(ports_[port].dtype), buffers[port]);
    }
  }

  std::unique_ptr<Program> clone() const override {
    return std::make_unique<InterpProgram>(graph_, map_, options_);
  }

 private:
  std::shared_ptr<const Graph> graph_;
  PortMap map_;
  LoadOptions options_;
  std::vector<Port> ports_;
  std::unordered_map<NodeId, size_t> port_of_leaf_;
};

class InterpBackend : public Backend {
 public:
  std::string_view name() const override { return "interp"; }
  std::unique_ptr<runtime::Program> load(std::shared_ptr<const Graph> graph, const PortMap& ports,
                                         const LoadOptions& options) const override {
    return std::make_unique<InterpProgram>(std::move(graph), ports, options);
  }
};

}  // namespace

const Backend& interp_backend() {
  static const InterpBackend backend;
  return backend;
}

}  // namespace luminal::backends

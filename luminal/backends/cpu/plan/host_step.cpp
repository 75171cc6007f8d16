#include "luminal/backends/cpu/plan/host_step.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/edit.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::backends::cpu {

HostStep::HostStep(const LoadRequest& request, kernel::SourceId source)
    : graph_(std::make_unique<Graph>()) {
  const Graph& graph = *request.graph;
  const NodeId node = request.planned->source_nodes[source];
  std::unordered_map<NodeId, Tensor> inputs;
  for (NodeId input : graph.node(node).inputs) {
    if (!inputs.contains(input)) {
      const Node& from = graph.node(input);
      inputs.emplace(
          input, graph_->input(fmt::format("operand {}", inputs.size()), from.dims, from.dtype));
    }
    leaves_.push_back(inputs.at(input).id());
    operands_.push_back(request.planned->class_of[input.index()]);
  }
  node_ = copy_subgraph(graph, {&node, 1}, *graph_, inputs)[0].id();
  custom_ = graph.node(node).op == Op::Custom;
  if (!custom_) return;
  const CustomOp& op = *graph_->node(node_).as<CustomAttr>().op;
  if (op.kernel) own_kernel_ = &op;
}

CustomLaunch HostStep::prepare(const Bindings& bindings, int threads) const {
  std::vector<TensorType> types;
  for (NodeId leaf : leaves_) types.push_back({graph_->node(leaf).dims, graph_->node(leaf).dtype});
  types.push_back({graph_->node(node_).dims, graph_->node(node_).dtype});
  return prepare_custom_launch(*own_kernel_, types, bindings, threads);
}

void HostStep::interpret(const Bindings& bindings, std::span<const void* const> params) const {
  auto leaf_data = [&](NodeId id) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i] != id) continue;
      const Node& node = graph_->node(id);
      const Result<ResolvedDims> dims = resolve_dims(node.dims, bindings);
      if (!dims) throw UserError("run: an operand: " + dims.why());
      return TensorData{
          .dtype = node.dtype,
          .dims = dims->sizes,
          .bytes = {static_cast<const std::byte*>(params[i]), dims->bytes(node.dtype)},
          .owner = nullptr};
    }
    LUMINAL_CHECK(false, "a host step reads a tensor that it wasn't given");
    __builtin_unreachable();
  };
  interpret::Interpreter interpreter(*graph_, bindings, leaf_data);
  const TensorData value = interpreter.values({&node_, 1})[0];
  if (value.bytes.empty()) return;
  std::memcpy(const_cast<void*>(params.back()), value.bytes.data(), value.bytes.size());
}

}  // namespace luminal::backends::cpu

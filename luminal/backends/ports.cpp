// The ports of a graph, the same for every backend.
#include "luminal/backends/backend.h"

namespace luminal::backends {
namespace {

runtime::PortRole port_role(Role role) {
  switch (role) {
    case Role::Input:
      return runtime::PortRole::Input;
    case Role::Weight:
      return runtime::PortRole::Weight;
    case Role::State:
      return runtime::PortRole::State;
  }
  return runtime::PortRole::Input;
}

// The name by which the caller knows a result.
std::string result_name(const Graph& graph, NodeId id) {
  for (const Output& output : graph.outputs()) {
    if (output.node == id && !output.name.empty()) return output.name;
  }
  const std::string& label = graph.node(id).label;
  return label.empty() ? graph.describe(id) : label;
}

}  // namespace

std::vector<runtime::Port> make_ports(const Graph& graph, const PortMap& map, bool float64) {
  std::vector<runtime::Port> ports;
  for (NodeId id : map.leaves) {
    const Node& node = graph.node(id);
    const auto& attr = node.as<InputAttr>();
    ports.push_back({port_role(attr.role), node.dtype, node.dims, attr.name});
  }
  for (NodeId id : map.results) {
    const Node& node = graph.node(id);
    const DType dtype = float64 && is_float(node.dtype) ? DType::F64 : node.dtype;
    ports.push_back({runtime::PortRole::Output, dtype, node.dims, result_name(graph, id)});
  }
  return ports;
}

}  // namespace luminal::backends

// Printing the text form; see text_form.h.
#include <fmt/format.h>

#include "luminal/base/check.h"
#include "luminal/base/text/line_reader.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

std::string constant_text(const Node& node) {
  const auto& constant = node.as<ConstantAttr>();
  return is_float(node.dtype) ? fmt::format("{}", constant.real)
                              : fmt::format("{}", constant.integer);
}

// What stands between the op's name and its inputs.
std::string attribute_text(const Node& node) {
  const std::optional<StructuralOp> op = structural_op(node.op);
  if (!op) return "";
  switch (*op) {
    case StructuralOp::Constant:
      return " " + constant_text(node);
    case StructuralOp::Iota:
      return " " + node.as<IotaAttr>().expr.text();
    case StructuralOp::Reduce:
    case StructuralOp::Scan:
      return fmt::format(" {}", name(node.as<ReduceAttr>().reducer));
    case StructuralOp::Scatter:
      return fmt::format(" {}", node.as<ScatterAttr>().combine
                                    ? name(*node.as<ScatterAttr>().combine)
                                    : std::string_view("set"));
    case StructuralOp::Custom:
      return " " + base::quoted(node.as<CustomAttr>().op->name);
    case StructuralOp::Input:
    case StructuralOp::View:
    case StructuralOp::Gather:
      return "";
  }
  return "";
}

std::string node_line(NodeId id, const Node& node) {
  std::string line = fmt::format("%{} = ", id.value);
  if (node.op == Op::Input) {
    const auto& attr = node.as<InputAttr>();
    line += fmt::format("{} {}", role_text(attr.role), base::quoted(attr.name));
  } else {
    line += name(node.op);
    line += attribute_text(node);
    for (NodeId input : node.inputs) line += fmt::format(" %{}", input.value);
    if (node.op == Op::View) line += " " + node.as<IndexMap>().text();
  }
  line += fmt::format(" : {}{}", name(node.dtype), text(node.dims));
  if (!node.label.empty()) line += " " + base::quoted(node.label);
  return line + "\n";
}

std::string data_line(const Graph& graph, NodeId leaf) {
  const TensorData data = *graph.data(leaf);
  const int64_t count = data.n_elements();
  if (count > kMostPrintedData) {
    return fmt::format("# the data of {} ({} elements) is not part of this text\n",
                       graph.describe(leaf), count);
  }
  std::string line = fmt::format("data %{} [{}]", leaf.value, fmt::join(data.dims, ", "));
  for (int64_t i = 0; i < count; ++i) {
    line += is_float(data.dtype) ? fmt::format(" {}", load_float(data.dtype, data.bytes.data(), i))
                                 : fmt::format(" {}", load_int(data.dtype, data.bytes.data(), i));
  }
  return line + "\n";
}

}  // namespace

std::string_view role_text(Role role) {
  switch (role) {
    case Role::Input:
      return "input";
    case Role::Weight:
      return "weight";
    case Role::State:
      return "state";
  }
  return "input";
}

std::string print_graph(const Graph& graph) {
  std::string out = fmt::format("{} {}\n", kTextHeader, kTextVersion);
  for (Expr variable : variables(graph)) {
    out += variable_line(variable);
  }
  for (NodeId id : topological_order(graph)) out += node_line(id, graph.node(id));
  for (NodeId leaf : graph.leaves()) {
    if (graph.has_data(leaf)) out += data_line(graph, leaf);
  }
  for (NodeId id : topological_order(graph)) {
    if (graph.node(id).materialized) out += fmt::format("materialize %{}\n", id.value);
  }
  for (const StateUpdate& update : graph.updates()) {
    out += fmt::format("update %{} %{}\n", update.state.value, update.value.value);
  }
  for (const Probe& probe : graph.probes()) {
    if (probe.kind == Probe::Kind::Print) {
      out += fmt::format("print {} %{}\n", base::quoted(probe.label), probe.node.value);
    } else {
      out += fmt::format("diff {} {} {} %{}\n", base::quoted(probe.label), probe.atol, probe.rtol,
                         probe.node.value);
    }
  }
  for (const Output& output : graph.outputs()) {
    if (output.name.empty()) {
      out += fmt::format("keep %{}\n", output.node.value);
    } else {
      out += fmt::format("output {} %{}\n", base::quoted(output.name), output.node.value);
    }
  }
  return out;
}

}  // namespace luminal

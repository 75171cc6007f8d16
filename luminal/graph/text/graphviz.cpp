#include "luminal/graph/graphviz.h"

#include <fmt/format.h>

#include "luminal/graph/traverse.h"

namespace luminal {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// The op with what a reader needs to tell it from its neighbours.
std::string title(const Node& node) {
  if (node.op == Op::Input) return node.as<InputAttr>().name;
  std::string out(name(node.op));
  if (node.op == Op::Reduce || node.op == Op::Scan) {
    out += fmt::format(" {}", name(node.as<ReduceAttr>().reducer));
  } else if (node.op == Op::View) {
    out += " " + node.as<IndexMap>().text();
  } else if (node.op == Op::Iota) {
    out += " " + node.as<IotaAttr>().expr.text();
  } else if (node.op == Op::Constant) {
    const auto& constant = node.as<ConstantAttr>();
    out = is_float(node.dtype) ? fmt::format("{}", constant.real)
                               : fmt::format("{}", constant.integer);
  }
  if (!node.label.empty()) out += "\n" + node.label;
  return out;
}

std::string_view style(const Node& node) {
  if (node.op == Op::Input) {
    switch (node.as<InputAttr>().role) {
      case Role::Input:
        return "fillcolor=\"#cfe8ff\"";
      case Role::Weight:
        return "fillcolor=\"#e3d9f7\"";
      case Role::State:
        return "fillcolor=\"#ffe2c4\"";
    }
  }
  switch (op_class(node.op)) {
    case OpClass::Movement:
      return "fillcolor=\"#f2f2f2\", color=\"#999999\"";
    case OpClass::Reduction:
      return "fillcolor=\"#fff4b8\"";
    case OpClass::Leaf:
    case OpClass::Unary:
    case OpClass::Convert:
    case OpClass::Binary:
    case OpClass::Comparison:
    case OpClass::Ternary:
    case OpClass::Indexing:
    case OpClass::Custom:
      break;
  }
  return "fillcolor=\"white\"";
}

std::string edge_type(const Node& node) {
  return escaped(fmt::format("{}{}", name(node.dtype), text(node.dims)));
}

}  // namespace

std::string to_graphviz(const Graph& graph) {
  std::string out =
      "digraph luminal {\n"
      "  rankdir=TB;\n"
      "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\"];\n";
  for (NodeId id : topological_order(graph)) {
    const Node& node = graph.node(id);
    out += fmt::format("  n{} [label=\"{}\", tooltip=\"%{}\", {}];\n", id.value,
                       escaped(title(node)), id.value, style(node));
    for (NodeId input : node.inputs) {
      out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", input.value, id.value,
                         edge_type(graph.node(input)));
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Output& output = graph.outputs()[i];
    out += fmt::format("  out{} [label=\"{}\", shape=ellipse, fillcolor=\"#d3f2d3\"];\n", i,
                       output.name.empty() ? "kept" : escaped(output.name));
    out += fmt::format("  n{} -> out{} [label=\"{}\"];\n", output.node.value, i,
                       edge_type(graph.node(output.node)));
  }
  for (const StateUpdate& update : graph.updates()) {
    out += fmt::format("  n{} -> n{} [label=\"next run\", style=dashed, constraint=false];\n",
                       update.value.value, update.state.value);
  }
  return out + "}\n";
}

}  // namespace luminal

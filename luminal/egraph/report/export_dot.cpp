#include "luminal/egraph/report/shown_graph.h"

#include <array>
#include <set>
#include <utility>

namespace luminal::egraph {
namespace {

// Escapes text for HTML-like labels, which hold all texts.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// Long constants would stretch the layout.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 48;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Cycles through light colours by sort.
const char* color_of(SortId sort) {
  constexpr std::array kColors = {"#dcebfa", "#e4f3dc", "#fbeed5", "#ece3f5",
                                  "#fae0e0", "#dff2f0", "#f3f0d2", "#e8e8e8"};
  return kColors[sort.index() % kColors.size()];
}

class DotExport {
 public:
  DotExport(const Database& database, const ExportOptions& options)
      : database_(database), graph_(choose_shown(database, options)) {
    if (options.around) around_ = Value{database.ids().find(options.around->value)};
  }

  std::string write() {
    out_ = "digraph egraph {\n";
    if (!graph_.note.empty()) {
      out_ += "  // " + graph_.note + "\n  label=<" + escaped(graph_.note) + ">;\n  labelloc=b;\n";
    }
    out_ +=
        "  compound=true; rankdir=TB; ordering=out; nodesep=0.15; ranksep=0.45;\n"
        "  fontname=\"Helvetica\"; fontsize=11;\n"
        "  node [shape=plain, fontname=\"Helvetica\", fontsize=11];\n"
        "  edge [arrowsize=0.6, color=\"#555555\"];\n";
    for (uint32_t c = 0; c < graph_.classes.size(); ++c) write_class(c);
    for (uint32_t fact : graph_.facts) write_node(fact, "  ");
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) write_edges(n);
    return out_ + "}\n";
  }

 private:
  void write_class(uint32_t number) {
    const ShownClass& shown = graph_.classes[number];
    std::string label =
        database_.schema.sort(shown.sort).name + " #" + std::to_string(shown.value.value);
    for (size_t i = 0; i < shown.names.size(); ++i) {
      label += (i == 0 ? " = " : ", ") + shown.names[i];
    }
    const bool is_center = shown.value == around_;
    out_ += "  subgraph cluster_" + std::to_string(number) + " {\n    label=<" + escaped(label) +
            ">; style=\"rounded,filled\"; fillcolor=\"" + color_of(shown.sort) + "\"; color=\"" +
            (is_center ? "#cc3300\"; penwidth=2" : "#999999\"") +
            "; labelloc=t; fontsize=9; margin=6;\n";
    for (uint32_t node : shown.nodes) write_node(node, "    ");
    out_ += "  }\n";
  }

  // The name, then a cell per argument: base values as text, classes as a port for the edge.
  void write_node(uint32_t number, const char* indent) {
    const ShownNode& node = graph_.nodes[number];
    const Function& function = database_.schema.function(node.function);
    const Table& table = database_.table(node.function);
    const bool is_term = function.kind == FunctionKind::Constructor;
    std::string cells = "<td><b>" + escaped(function.name) + "</b></td>";
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      if (database_.is_equality(function.inputs[i])) {
        cells += "<td port=\"p" + std::to_string(i) + "\">•</td>";
      } else {
        cells += cell(Value{table.row(node.row)[i]}, function.inputs[i]);
      }
    }
    if (function.kind == FunctionKind::Function && !database_.is_equality(function.output)) {
      cells += "<td>=</td>" + cell(Value{table.output(node.row)}, function.output);
    }
    out_ += std::string(indent) + "n" + std::to_string(number) +
            " [label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" "
            "bgcolor=\"" +
            (is_term ? "white" : "#f4f4f4") + "\" style=\"" + (is_term ? "rounded" : "dashed") +
            "\"><tr>" + cells + "</tr></table>>, tooltip=\"by " +
            attribute(database_.rule_names[table.origin(node.row).index()]) + "\"];\n";
  }

  std::string cell(Value value, SortId sort) const {
    return "<td>" + escaped(shortened(database_.print(value, sort))) + "</td>";
  }

  static std::string attribute(const std::string& text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  }

  void write_edges(uint32_t number) {
    const ShownNode& node = graph_.nodes[number];
    const Function& function = database_.schema.function(node.function);
    const Table& table = database_.table(node.function);
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      if (!database_.is_equality(function.inputs[i])) continue;
      const Value child{table.row(node.row)[i]};
      const std::string from = "  n" + std::to_string(number) + ":p" + std::to_string(i) + ":s";
      if (!graph_.shows(child)) {
        out_ += left_out(child) + from + " -> x" + std::to_string(child.value) + ";\n";
        continue;
      }
      const uint32_t target = graph_.class_of.at(child.value);
      out_ += from + " -> n" + std::to_string(graph_.classes[target].nodes.front());
      // Graphviz can't end an edge at the border of the cluster in which it starts.
      const bool is_own_class =
          child.value == table.output(node.row) && database_.is_equality(function.output);
      out_ += is_own_class ? ";\n" : " [lhead=cluster_" + std::to_string(target) + "];\n";
    }
  }

  // A placeholder for a class that isn't shown, drawn once.
  std::string left_out(Value value) {
    if (!left_out_.insert(value.value).second) return "";
    return "  x" + std::to_string(value.value) + " [label=<#" + std::to_string(value.value) +
           " …>, shape=ellipse, style=dashed, color=\"#999999\", fontcolor=\"#777777\", "
           "fontsize=9, margin=\"0.02\", tooltip=\"left out\"];\n";
  }

  const Database& database_;
  ShownGraph graph_;
  Value around_;
  std::set<uint32_t> left_out_;
  std::string out_;
};

}  // namespace

std::string export_dot(const Database& database, const ExportOptions& options) {
  return DotExport(database, options).write();
}

}  // namespace luminal::egraph

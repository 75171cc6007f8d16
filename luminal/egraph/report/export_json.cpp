#include "luminal/base/text/json_text.h"
#include "luminal/egraph/report/shown_graph.h"

#include <map>
#include <set>
#include <utility>

namespace luminal::egraph {
namespace {

using base::JsonText;

class JsonExport {
 public:
  JsonExport(const Database& database, const ExportOptions& options)
      : database_(database), options_(options), graph_(choose_shown(database, options)) {}

  std::string write() {
    json_.begin_object();
    json_.key("nodes");
    json_.begin_object();
    for (const ShownNode& node : graph_.nodes) write_node(node);
    json_.end_object();
    json_.key("root_eclasses");
    json_.begin_array(kLine);
    if (options_.around) {
      const Value root{database_.ids().find(options_.around->value)};
      json_.value(class_id(root, database_.sort_of(root)));
    }
    json_.end_array();
    write_class_data();
    if (!graph_.note.empty()) write_truncation();
    json_.end_object();
    return json_.text() + "\n";
  }

 private:
  static constexpr auto kLine = JsonText::Layout::OnOneLine;
  // The cost of a placeholder for omitted nodes: no extractor takes it. JSON has no infinity.
  static constexpr double kLeftOutCost = 1e300;

  const std::string& sort_name(SortId sort) const { return database_.schema.sort(sort).name; }

  std::string class_id(Value value, SortId sort) const {
    return sort_name(sort) + "-" + std::to_string(value.value);
  }

  std::string node_id(const ShownNode& node) const {
    return "function-" + std::to_string(node.number) + "-" +
           database_.schema.function(node.function).name;
  }

  // Each row of a relation is its own class, of a sort that exists for this relation alone.
  std::string relation_sort(const Function& relation) const { return "@" + relation.name + "Sort"; }

  void write_entry(const std::string& id, const std::string& op,
                   const std::vector<std::string>& children, const std::string& eclass, double cost,
                   bool subsumed = false) {
    json_.key(id);
    json_.begin_object(kLine);
    json_.field("op", op);
    json_.key("children");
    json_.begin_array(kLine);
    for (const std::string& child : children) json_.value(child);
    json_.end_array();
    json_.field("eclass", eclass);
    json_.field("cost", cost);
    json_.field("subsumed", subsumed);
    json_.end_object();
  }

  // The node that an edge to this value points to; written on first use.
  std::string target(Value value, SortId sort) {
    const std::string eclass = class_id(value, sort);
    note_class(eclass, sort_name(sort));
    if (database_.is_equality(sort)) {
      if (graph_.shows(value)) {
        return node_id(graph_.nodes[graph_.classes[graph_.class_of.at(value.value)].nodes.front()]);
      }
      const std::string id = "dummy-" + eclass;
      if (written_.insert(id).second) write_entry(id, "[...]", {}, eclass, kLeftOutCost);
      return id;
    }
    const std::string id = "primitive-" + eclass;
    if (written_.insert(id).second) write_entry(id, database_.print(value, sort), {}, eclass, 1);
    return id;
  }

  void write_node(const ShownNode& node) {
    const Function& function = database_.schema.function(node.function);
    const Table& table = database_.table(node.function);
    std::vector<std::string> children;
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      children.push_back(target(Value{table.row(node.row)[i]}, function.inputs[i]));
    }
    const Value value{table.output(node.row)};
    std::string eclass = class_id(value, function.output);
    if (function.kind == FunctionKind::Relation) {
      eclass = relation_sort(function) + "-" + std::to_string(node.number);
      note_class(eclass, relation_sort(function));
    } else if (database_.is_equality(function.output)) {
      note_class(eclass, sort_name(function.output));
    } else {
      target(value, function.output);
    }
    write_entry(node_id(node), function.name, children, eclass, static_cast<double>(function.cost),
                database_.table(node.function).subsumed(node.row));
  }

  void note_class(const std::string& eclass, const std::string& type) {
    if (class_types_.emplace(eclass, type).second) class_order_.push_back(eclass);
  }

  void write_class_data() {
    std::map<std::string, std::string> names;
    for (const ShownClass& shown : graph_.classes) {
      std::string& joined = names[class_id(shown.value, shown.sort)];
      for (const std::string& name : shown.names) joined += (joined.empty() ? "" : ", ") + name;
    }
    json_.key("class_data");
    json_.begin_object();
    for (const std::string& eclass : class_order_) {
      json_.key(eclass);
      json_.begin_object(kLine);
      json_.field("type", class_types_[eclass]);
      if (const auto found = names.find(eclass); found != names.end() && !found->second.empty()) {
        json_.field("let", found->second);
      }
      json_.end_object();
    }
    json_.end_object();
  }

  // Readers of the format ignore unknown fields.
  void write_truncation() {
    json_.key("truncated");
    json_.begin_object();
    json_.field("nodes_left_out", graph_.all_nodes - graph_.nodes.size());
    json_.field("classes_left_out", graph_.all_classes - graph_.classes.size());
    json_.field("note", graph_.note);
    json_.end_object();
  }

  const Database& database_;
  const ExportOptions& options_;
  ShownGraph graph_;
  JsonText json_;
  std::set<std::string> written_;
  std::map<std::string, std::string> class_types_;
  std::vector<std::string> class_order_;
};

}  // namespace

std::string export_json(const Database& database, const ExportOptions& options) {
  return JsonExport(database, options).write();
}

}  // namespace luminal::egraph

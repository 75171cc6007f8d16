#include "luminal/egraph/report/shown_graph.h"

#include "luminal/base/errors.h"

#include <algorithm>
#include <deque>

namespace luminal::egraph {
namespace {

class Chooser {
 public:
  Chooser(const Database& database, const ExportOptions& options)
      : database_(database),
        options_(options),
        rows_of_(database.ids().size()),
        uses_of_(database.ids().size()),
        order_seen_(database.ids().size()) {}

  ShownGraph choose() {
    collect_rows();
    order_classes();
    take_classes();
    take_facts();
    name_classes();
    graph_.note = note();
    return std::move(graph_);
  }

 private:
  const Function& function(const ShownNode& node) const {
    return database_.schema.function(node.function);
  }
  bool is_fact(const ShownNode& node) const {
    return !database_.is_equality(function(node).output);
  }
  uint32_t output(const ShownNode& node) const {
    return database_.table(node.function).output(node.row);
  }

  template <typename Visit>
  void for_each_class_argument(const ShownNode& node, Visit visit) const {
    const Function& declared = function(node);
    const uint32_t* row = database_.table(node.function).row(node.row);
    for (size_t i = 0; i < declared.inputs.size(); ++i) {
      if (database_.is_equality(declared.inputs[i])) visit(row[i]);
    }
  }

  void collect_rows() {
    // Constructors first, so that a class starts with a term.
    for (const bool constructors : {true, false}) {
      for (uint32_t f = 0; f < database_.functions(); ++f) {
        const FunctionKind kind = database_.schema.function(FunctionId{f}).kind;
        if ((kind == FunctionKind::Constructor) == constructors) collect_rows(FunctionId{f});
      }
    }
    for (const auto& rows : rows_of_) graph_.all_classes += rows.empty() ? 0 : 1;
    graph_.all_nodes = rows_.size();
  }

  void collect_rows(FunctionId id) {
    const Table& table = database_.table(id);
    uint32_t number = 0;
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      const ShownNode node{.function = id, .row = row, .number = number++};
      const uint32_t index = static_cast<uint32_t>(rows_.size());
      rows_.push_back(node);
      if (is_fact(node)) {
        facts_.push_back(index);
      } else {
        rows_of_[output(node)].push_back(index);
      }
      for_each_class_argument(node, [&](uint32_t argument) {
        std::vector<uint32_t>& uses = uses_of_[argument];
        if (uses.empty() || uses.back() != index) uses.push_back(index);
      });
    }
  }

  // --- which classes, in which order ----------------------------------------------------------

  void order_classes() {
    if (options_.around) {
      const Value start = *options_.around;
      if (start.index() >= rows_of_.size()) {
        throw UserError("there is no class to show the neighbourhood of; name a term");
      }
      return walk(database_.ids().find(start.value), options_.radius, options_.parents);
    }
    // Breadth-first from the globals to their parts, then the remaining classes, the oldest first.
    constexpr uint32_t kAnyDistance = 0xffffffffu;
    for (const Global& global : database_.globals) {
      if (database_.is_equality(global.sort)) {
        walk(database_.ids().find(global.value.value), kAnyDistance, false);
      }
    }
    for (size_t id = 0; id < rows_of_.size(); ++id) {
      if (!rows_of_[id].empty()) walk(static_cast<uint32_t>(id), 0, false);
    }
  }

  void walk(uint32_t start, uint32_t radius, bool parents) {
    struct Reached {
      uint32_t id;
      uint32_t distance;
    };
    std::deque<Reached> queue;
    uint32_t distance = 0;
    const auto reach = [&](uint32_t id) {
      if (order_seen_[id]) return;
      order_seen_[id] = true;
      order_.push_back(id);
      queue.push_back({.id = id, .distance = distance});
    };
    reach(start);
    while (!queue.empty()) {
      const Reached at = queue.front();
      queue.pop_front();
      if (at.distance == radius) continue;
      distance = at.distance + 1;
      for (uint32_t row : rows_of_[at.id]) for_each_class_argument(rows_[row], reach);
      if (!parents) continue;
      for (uint32_t row : uses_of_[at.id]) {
        // Two classes that share a fact are neighbours.
        is_fact(rows_[row]) ? for_each_class_argument(rows_[row], reach)
                            : reach(output(rows_[row]));
      }
    }
  }

  // --- which of their rows ----------------------------------------------------------------------

  bool is_full() const { return graph_.nodes.size() >= options_.shown_nodes; }

  void take_classes() {
    for (uint32_t id : order_) {
      if (rows_of_[id].empty()) continue;
      if (is_full()) return;
      const uint32_t number = static_cast<uint32_t>(graph_.classes.size());
      ShownClass& shown = graph_.classes.emplace_back();
      shown.value = Value{id};
      shown.sort = database_.sort_of(Value{id});
      graph_.class_of.emplace(id, number);
      for (uint32_t row : rows_of_[id]) {
        if (is_full()) break;
        shown.nodes.push_back(static_cast<uint32_t>(graph_.nodes.size()));
        graph_.nodes.push_back(rows_[row]);
      }
    }
  }

  // A fact that has only base values is a neighbour of no class.
  void take_facts() {
    for (uint32_t row : facts_) {
      if (is_full()) return;
      bool shown = true, about_a_class = false;
      for_each_class_argument(rows_[row], [&](uint32_t argument) {
        about_a_class = true;
        if (!graph_.class_of.contains(argument)) shown = false;
      });
      if (!shown || (options_.around && !about_a_class)) continue;
      graph_.facts.push_back(static_cast<uint32_t>(graph_.nodes.size()));
      graph_.nodes.push_back(rows_[row]);
    }
  }

  void name_classes() {
    for (const Global& global : database_.globals) {
      if (!database_.is_equality(global.sort)) continue;
      const auto found = graph_.class_of.find(database_.ids().find(global.value.value));
      if (found != graph_.class_of.end())
        graph_.classes[found->second].names.push_back(global.name);
    }
  }

  std::string note() const {
    if (graph_.nodes.size() == graph_.all_nodes) return "";
    std::string text = std::to_string(graph_.nodes.size()) + " of " +
                       std::to_string(graph_.all_nodes) + " nodes and " +
                       std::to_string(graph_.classes.size()) + " of " +
                       std::to_string(graph_.all_classes) + " classes are shown";
    if (options_.around) {
      text += ", those up to " + std::to_string(options_.radius) +
              (options_.radius == 1 ? " step" : " steps") + " from #" +
              std::to_string(database_.ids().find(options_.around->value)) +
              (options_.parents ? "" : " among its arguments");
    }
    return text + "; to see more, raise " +
           (is_full() ? "shown-nodes, now " + std::to_string(options_.shown_nodes) : "radius");
  }

  const Database& database_;
  const ExportOptions& options_;
  std::vector<ShownNode> rows_;                 // all live rows
  std::vector<uint32_t> facts_;                 // indices into `rows_`, like the next two
  std::vector<std::vector<uint32_t>> rows_of_;  // by id: the rows in that class
  std::vector<std::vector<uint32_t>> uses_of_;  // by id: the rows with it as an argument
  std::vector<uint32_t> order_;                 // classes, nearest first
  std::vector<bool> order_seen_;
  ShownGraph graph_;
};

}  // namespace

ShownGraph choose_shown(const Database& database, const ExportOptions& options) {
  return Chooser(database, options).choose();
}

}  // namespace luminal::egraph

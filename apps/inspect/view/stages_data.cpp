#include "apps/inspect/view/stages_data.h"

#include <fmt/format.h>

#include <set>

#include "luminal/graph/text/text_lines.h"

namespace luminal::view {
namespace {

using Layout = base::JsonText::Layout;

// The op, with what distinguishes it from its neighbours.
std::string title_of(const Node& node) {
  const std::string op(name(node.op));
  if (node.op == Op::Reduce || node.op == Op::Scan) {
    return fmt::format("{} {}", op, name(node.as<ReduceAttr>().reducer));
  }
  if (node.op == Op::View) return fmt::format("{} {}", op, node.as<IndexMap>().text());
  if (node.op == Op::Iota) return fmt::format("{} {}", op, node.as<IotaAttr>().expr.text());
  if (node.op == Op::Constant) {
    const auto& constant = node.as<ConstantAttr>();
    return is_float(node.dtype) ? fmt::format("{}", constant.real)
                                : fmt::format("{}", constant.integer);
  }
  return op;
}

void write_node(base::JsonText& json, const Node& node) {
  json.begin_object(Layout::OnOneLine);
  json.field("op", name(node.op));
  json.field("title", title_of(node));
  json.field("type", fmt::format("{}{}", name(node.dtype), text(node.dims)));
  if (node.op == Op::Input) {
    json.field("name", node.as<InputAttr>().name);
    json.field("role", role_text(node.as<InputAttr>().role));
  }
  if (!node.label.empty()) json.field("label", node.label);
  json.key("inputs");
  json.begin_array(Layout::OnOneLine);
  for (NodeId input : node.inputs) json.value(input.value);
  json.end_array();
  json.end_object();
}

template <typename Items, typename Number>
void write_numbers(base::JsonText& json, const char* key, const Items& items, Number number) {
  json.key(key);
  json.begin_array(Layout::OnOneLine);
  for (const auto& item : items) json.value(number(item));
  json.end_array();
}

int64_t number_of(NodeId id) { return id.valid() ? int64_t{id.value} : -1; }

void write_rolled(base::JsonText& json, const search::RolledGraph& rolled) {
  write_numbers(json, "loops", rolled.loop_of, [](int loop) { return loop; });
  write_numbers(json, "trips", rolled.trips, [](size_t trips) { return trips; });
  write_numbers(json, "places", rolled.places,
                [](const search::RolledPlace& place) { return number_of(place.node); });
  json.key("markers");
  json.begin_array();
  for (const search::LoopMarker& marker : rolled.markers) {
    std::set<int64_t> of;
    for (NodeId id : marker.stands_for) of.insert(number_of(rolled.places[id.index()].node));
    of.erase(-1);
    json.begin_object(Layout::OnOneLine);
    json.field("leaf", marker.leaf.value);
    json.field("first", number_of(marker.stands_for.front()));
    write_numbers(json, "of", of, [](int64_t id) { return id; });
    json.end_object();
  }
  json.end_array();
}

void write_class(base::JsonText& json, const PlanStages& stages, const search::ClassFact& fact) {
  const search::ClassFacts& facts = stages.facts();
  json.begin_object(Layout::OnOneLine);
  json.field("id", fact.id.value);
  json.field("type",
             fact.type ? fmt::format("{}{}", name(fact.type->dtype), text(fact.type->dims)) : "");
  json.key("terms");
  json.begin_array(Layout::OnOneLine);
  for (const egraph::Node& term : facts.snapshot().nodes_of(fact.id)) {
    json.begin_object(Layout::OnOneLine);
    json.field("text", facts.text(term));
    if (term.origin != egraph::kInitial) {
      json.field("rule", stages.terms().egraph.rule_name(term.origin));
    }
    std::string why;
    if (!facts.is_usable(term, &why)) json.field("unusable", why);
    write_numbers(json, "reads", facts.operands(term), [](egraph::ClassId id) { return id.value; });
    json.end_object();
  }
  json.end_array();
  json.field("rules", facts.rules(fact.id));
  json.end_object();
}

}  // namespace

void write_nodes(base::JsonText& json, const Graph& graph) {
  json.begin_array();
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (node.removed) {
      json.null();
    } else {
      write_node(json, node);
    }
  }
  json.end_array();
}

void write_stages(base::JsonText& json, const PlanStages& stages) {
  json.field("rolled", stages.rolled() != nullptr ? stages.rolled()->summary : "");
  json.key("nodes");
  write_nodes(json, stages.planned());
  if (stages.rolled() != nullptr) write_rolled(json, *stages.rolled());
  json.key("class_of");
  json.begin_array(Layout::OnOneLine);
  const Graph& planned = stages.planned();
  for (uint32_t id = 0; id < planned.size(); ++id) {
    const search::ClassFact* fact = stages.facts().of(NodeId{id});
    json.value(fact != nullptr ? int64_t{fact->id.value} : -1);
  }
  json.end_array();
  json.key("classes");
  json.begin_array();
  for (const search::ClassFact& fact : stages.facts().classes()) write_class(json, stages, fact);
  json.end_array();
}

}  // namespace luminal::view

#include "luminal/search/fusion/find_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/search/terms/lower_graph.h"
#include "luminal/search/terms/saturate.h"

namespace luminal::search {
namespace {

using egraph::Value;

// The nodes of each class of equal terms, by id.
using NodesOf = std::map<Value, std::vector<NodeId>>;

NodesOf nodes_of(const LoweredGraph& lowered, const Terms& terms) {
  NodesOf nodes;
  for (size_t i = 0; i < lowered.value_of.size(); ++i) {
    const Value value = lowered.value_of[i];
    if (value.valid()) nodes[terms.egraph.find(value)].push_back(NodeId(static_cast<uint32_t>(i)));
  }
  return nodes;
}

// Rules can't state that something is absent, so they are told what isn't a root and how often a
// value is read.
void state_facts(const Graph& graph, const std::vector<NodeId>& roots, const LoweredGraph& lowered,
                 const NodesOf& nodes, Terms& terms) {
  egraph::EGraph& egraph = terms.egraph;
  std::map<Value, int64_t> uses;
  for (const auto& [value, equal] : nodes) {
    // Equal nodes read equal values, and become one.
    for (NodeId input : graph.node(equal.front()).inputs) {
      ++uses[egraph.find(lowered.value_of[input.index()])];
    }
  }
  std::vector<Value> stored;
  for (NodeId root : roots) stored.push_back(egraph.find(lowered.value_of[root.index()]));
  std::ranges::sort(stored);
  const egraph::FunctionId op_of = egraph.function("op-of");
  const egraph::FunctionId uses_of = egraph.function("uses");
  const egraph::FunctionId free = egraph.function("free");
  for (const auto& [value, equal] : nodes) {
    egraph.set(op_of, {value}, terms.string(name(graph.node(equal.front()).op)));
    egraph.set(uses_of, {value}, egraph.constants().intern(uses[value]));
    if (!std::ranges::binary_search(stored, value)) egraph.add(free, {value});
  }
}

FusionPattern pattern_named(const std::string& name) {
  if (const auto pattern = fusion_pattern_from_name(name)) return *pattern;
  throw UserError(fmt::format("a rule finds a pattern '{}', which has no name; the patterns are {}",
                              name, fmt::join(fusion_pattern_names(), ", ")));
}

// What the rules found, from the relations at the top of patterns.egg.
std::vector<PatternPlace> places_found(const Graph& graph, const NodesOf& nodes,
                                       const Terms& terms) {
  const egraph::EGraph& egraph = terms.egraph;
  using NameAndResult = std::pair<Value, Value>;
  std::map<NameAndResult, PatternPlace> places;
  const auto each = [&](const char* relation, const auto& use) {
    egraph.for_each_row(egraph.function(relation),
                        [&](std::span<const Value> row, Value, egraph::RuleId) { use(row); });
  };
  each("pattern", [&](std::span<const Value> row) {
    const NodeId at = nodes.at(row[1]).front();
    places.try_emplace(NameAndResult(row[0], row[1]),
                       PatternPlace{.pattern = pattern_named(egraph.constants().string(row[0])),
                                    .at = at,
                                    .interior = {},
                                    .tokens = terms.host.expr(row[2]),
                                    .hidden = terms.host.expr(row[3]),
                                    .intermediate = 0,
                                    .dtype = graph.node(at).dtype});
  });
  each("inside", [&](std::span<const Value> row) {
    const auto place = places.find({row[0], row[1]});
    if (place == places.end()) return;
    const std::vector<NodeId>& equal = nodes.at(row[2]);
    place->second.interior.insert(place->second.interior.end(), equal.begin(), equal.end());
  });
  // A rule can't add up what several matches find.
  each("projected", [&](std::span<const Value> row) {
    const auto place = places.find({row[0], row[1]});
    if (place == places.end()) return;
    place->second.intermediate = place->second.intermediate + terms.host.expr(row[3]);
  });
  std::vector<PatternPlace> result;
  for (auto& [key, place] : places) {
    std::ranges::sort(place.interior);
    result.push_back(std::move(place));
  }
  std::ranges::sort(result, {},
                    [](const PatternPlace& place) { return std::pair(place.at, place.pattern); });
  return result;
}

}  // namespace

std::optional<FusionShape> shape_of(const PatternPlace& place, const Bindings& sizes) {
  FusionShape shape{.dtype = place.dtype};
  const std::pair<Expr, int64_t*> parts[] = {{place.tokens, &shape.tokens},
                                             {place.hidden, &shape.hidden},
                                             {place.intermediate, &shape.intermediate}};
  for (const auto& [expr, number] : parts) {
    const std::optional<int64_t> value = expr.evaluate(sizes).value;
    if (!value || *value < 1) return std::nullopt;
    *number = *value;
  }
  return shape;
}

std::vector<PatternPlace> find_patterns(const Graph& graph, const std::vector<NodeId>& roots,
                                        const std::vector<RuleText>& more) {
  Terms terms(RuleSet::of_patterns(more));
  const LoweredGraph lowered = lower_graph(graph, roots, terms, PackedResults::Kernel);
  terms.egraph.rebuild();
  state_facts(graph, roots, lowered, nodes_of(lowered, terms), terms);
  saturate(terms);
  return places_found(graph, nodes_of(lowered, terms), terms);
}

}  // namespace luminal::search

#include "luminal/search/inspect/class_facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace luminal::search {

ClassFacts::ClassFacts(const Graph& graph, const LoweredGraph& lowered, Terms& terms)
    : graph_(graph), lowered_(lowered), terms_(terms), snapshot_(terms.egraph.snapshot()) {
  number_of_.assign(snapshot_.classes(), -1);
  for (uint32_t i = 0; i < snapshot_.classes(); ++i) {
    if (snapshot_.sort(egraph::ClassId{i}) != terms_.egraph.sort("Value")) continue;
    number_of_[i] = static_cast<int>(facts_.size());
    facts_.push_back({.id = egraph::ClassId{i}, .type = {}, .other_type = {}, .joined_by = {}});
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (ClassFact& fact : facts_) changed |= learn(fact);
  }
}

// Derives facts about a class from those about others; returns whether any is new.
bool ClassFacts::learn(ClassFact& fact) {
  bool changed = false;
  for (const egraph::Node& node : snapshot_.nodes_of(fact.id)) {
    const std::vector<egraph::ClassId> reads = operands(node);
    if (!fact.computable && is_usable(node) &&
        std::all_of(reads.begin(), reads.end(),
                    [&](egraph::ClassId id) { return of(id)->computable; })) {
      fact.computable = true;
      changed = true;
    }
    const std::optional<Type> type = type_of(node);
    if (!type) continue;
    if (!fact.type) {
      fact.type = type;
      changed = true;
    } else if (!fact.other_type && !(*fact.type == *type)) {
      fact.other_type = type;
      fact.joined_by = node.origin == egraph::kInitial ? "" : terms_.egraph.rule_name(node.origin);
      if (fact.joined_by.empty() && !rules(fact.id).empty()) fact.joined_by = rules(fact.id)[0];
      changed = true;
    }
  }
  return changed;
}

const ClassFact* ClassFacts::of(NodeId node) const {
  if (node.index() >= lowered_.value_of.size() || !lowered_.value_of[node.index()].valid()) {
    return nullptr;
  }
  return of(snapshot_.class_of(lowered_.value_of[node.index()]));
}

const ClassFact* ClassFacts::of(egraph::ClassId id) const {
  const int number = number_of_[id.index()];
  return number < 0 ? nullptr : &facts_[static_cast<size_t>(number)];
}

std::optional<int64_t> ClassFacts::source_of(const egraph::Node& load) const {
  for (const egraph::Node& node : snapshot_.nodes_of(snapshot_.children(load)[0].class_id)) {
    if (node.function == terms_.source) {
      return terms_.egraph.constants().i64(snapshot_.children(node)[0].value);
    }
  }
  return std::nullopt;
}

bool ClassFacts::is_usable(const egraph::Node& node, std::string* why) const {
  const auto no = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return false;
  };
  const auto& f = node.function;
  if (f == terms_.load) {
    const std::optional<int64_t> source = source_of(node);
    const bool there =
        source && *source >= 0 && *source < static_cast<int64_t>(lowered_.sources.size());
    return there || no("it loads a value that no step of the plan computes");
  }
  if (f == terms_.cast || f == terms_.bitcast) {
    const std::string& dtype = terms_.egraph.constants().string(snapshot_.children(node)[0].value);
    return dtype_from_name(dtype).has_value() || no("there is no dtype '" + dtype + "'");
  }
  if (f == terms_.reduce || f == terms_.scan || f == terms_.store_at) {
    const auto& reducer = terms_.egraph.constants().string(snapshot_.children(node)[0].value);
    if (f == terms_.store_at && reducer == "replace") return true;
    return reducer_from_name(reducer).has_value() || no("there is no reducer '" + reducer + "'");
  }
  const bool known = f == terms_.constant || f == terms_.iota || f == terms_.reindex ||
                     f == terms_.gather || terms_.op_of(f).has_value();
  return known || no("no kernel computes '" + terms_.egraph.schema().function(f).name + "'");
}

std::vector<egraph::ClassId> ClassFacts::operands(const egraph::Node& node) const {
  std::vector<egraph::ClassId> reads;
  for (const egraph::Child& child : snapshot_.children(node)) {
    if (child.class_id.valid() && number_of_[child.class_id.index()] >= 0) {
      reads.push_back(child.class_id);
    }
  }
  return reads;
}

std::optional<Type> ClassFacts::type_of(const egraph::Node& node) const {
  if (!is_usable(node)) return std::nullopt;
  const auto children = snapshot_.children(node);
  const auto& f = node.function;
  if (f == terms_.load) {
    const Node& source = graph_.node(lowered_.sources[kernel::SourceId::at(*source_of(node))].node);
    return Type{source.dims, source.dtype};
  }
  if (f == terms_.constant) return Type{{}, terms_.host.number(children[0].value).dtype};
  if (f == terms_.iota) return terms_.host.type(children[1].value);
  std::vector<Type> types;
  for (egraph::ClassId id : operands(node)) {
    const std::optional<Type>& type = of(id)->type;
    if (!type) return std::nullopt;
    types.push_back(*type);
  }
  if (f == terms_.reindex) return Type{terms_.host.map(children[0].value).dims(), types[0].dtype};
  if (f == terms_.cast || f == terms_.bitcast) {
    return Type{types[0].dims,
                *dtype_from_name(terms_.egraph.constants().string(children[0].value))};
  }
  if (f == terms_.reduce) {
    if (types[0].dims.empty()) return std::nullopt;
    types[0].dims.pop_back();
    return types[0];
  }
  if (f == terms_.scan || f == terms_.store_at) return types[0];
  if (f == terms_.gather) {
    if (types[0].dims.empty()) return std::nullopt;
    Type type{types[1].dims, types[0].dtype};
    type.dims.insert(type.dims.end(), types[0].dims.begin() + 1, types[0].dims.end());
    return type;
  }
  const Op op = *terms_.op_of(f);
  if (op == Op::Select) return types[1];
  if (gives_bool(op)) types[0].dtype = DType::Bool;
  return types[0];
}

std::string ClassFacts::text(const egraph::Node& node) const {
  const egraph::Function& function = terms_.egraph.schema().function(node.function);
  std::string out = "(" + function.name;
  const auto children = snapshot_.children(node);
  for (size_t k = 0; k < children.size(); ++k) {
    out += children[k].class_id.valid()
               ? fmt::format(" #{}", children[k].class_id.value)
               : " " + terms_.egraph.print(children[k].value, function.inputs[k]);
  }
  return out + ")";
}

std::vector<std::string> ClassFacts::rules(egraph::ClassId id) const {
  std::vector<std::string> names;
  const auto add = [&](egraph::RuleId rule) {
    if (rule != egraph::kInitial) names.push_back(terms_.egraph.rule_name(rule));
  };
  for (egraph::RuleId rule : snapshot_.rules_behind(id)) add(rule);
  for (const egraph::Node& node : snapshot_.nodes_of(id)) add(node.origin);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<NodeId> ClassFacts::node_of(egraph::ClassId id) const {
  for (uint32_t node = 0; node < lowered_.value_of.size(); ++node) {
    const ClassFact* fact = of(NodeId{node});
    if (fact != nullptr && fact->id == id) return NodeId{node};
  }
  return std::nullopt;
}

}  // namespace luminal::search

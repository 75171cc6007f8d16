#include "luminal/rule_testing/check_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "luminal/base/errors.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/text_form.h"
#include "luminal/rule_testing/compare_values.h"
#include "luminal/search/terms/lower_graph.h"

namespace luminal::rule_testing {

using search::Type;

namespace {

using egraph::Value;
using interpret::Precision;

// A value in its declared dtypes, and computed in f64 as the reference.
struct Known {
  TensorData declared;
  TensorData exact;
  Type type;
};

class Checking {
 public:
  Checking(const RuleInstance& instance, const RuleInfo& rule, Terms& terms)
      : instance_(instance), rule_(rule), terms_(terms), egraph_(terms.egraph) {}

  Verdict run() {
    add_terms();
    try {
      if (!fires()) return {Verdict::Kind::NotFired};
    } catch (const std::exception& error) {
      return differs(error.what());
    }
    if (!evaluate_graph()) return {Verdict::Kind::Outside};
    if (rule_.numeric_class == RuleClass::Finite && !is_finite()) return {Verdict::Kind::Outside};
    snapshot_ = egraph_.snapshot();
    if (auto why = check_nodes(); !why.empty()) return differs(why);
    if (auto why = evaluate_new_classes(); !why.empty()) return differs(why);
    if (auto why = check_terms(); !why.empty()) return differs(why);
    if (auto why = check_tensors(); !why.empty()) return differs(why);
    if (auto why = check_facts(); !why.empty()) return differs(why);
    return {Verdict::Kind::Holds};
  }

 private:
  Verdict differs(const std::string& what) const {
    std::string sizes;
    for (const auto& [name, size] : instance_.sizes.items()) {
      sizes += fmt::format(" {} = {}", name, size);
    }
    return {Verdict::Kind::Differs,
            fmt::format("{}\nwhere{} and\n{}", what, sizes, print_graph(*instance_.graph))};
  }

  // ---- The instance, as terms and as values --------------------------------------------------

  void add_terms() {
    std::vector<NodeId> all;
    for (uint32_t id = 0; id < instance_.graph->size(); ++id) all.push_back(NodeId{id});
    lowered_ = lower_graph(*instance_.graph, all, terms_, search::PackedResults::Kernel);
    for (NodeId id : instance_.stores) egraph_.add(terms_.store, {value_of(id)});
  }

  Value value_of(NodeId id) const { return lowered_.value_of[id.index()]; }

  bool fires() {
    std::vector<egraph::Schedule> parts = {egraph::Schedule::run(egraph_.ruleset("facts.exact"))};
    std::vector<std::string_view> others = {rule_.syntax.ruleset};
    if (folds_weights(rule_)) others.push_back("facts.finite");
    for (std::string_view ruleset : others) {
      if (ruleset == "facts.exact") continue;
      parts.push_back(egraph::Schedule::run(egraph_.ruleset(ruleset)));
    }
    egraph::RunLimits limits;
    limits.nodes = 2'000;
    limits.iterations = 20;
    const egraph::RunReport report = egraph_.run(egraph::Schedule::saturate(parts), limits);
    return report.rule(*egraph_.find_rule(rule_.name)).matches > 0;
  }

  // False where a gather's index is out of range: such a graph has no value.
  bool evaluate_graph() try {
    std::vector<NodeId> all;
    for (uint32_t id = 0; id < instance_.graph->size(); ++id) all.push_back(NodeId{id});
    auto leaf = [this](NodeId id) { return instance_.leaves.at(id); };
    declared_ = interpret::Interpreter(*instance_.graph, instance_.sizes, leaf).values(all);
    exact_ = declared_;
    if (rule_.numeric_class == RuleClass::Exact) return true;
    exact_ = interpret::Interpreter(*instance_.graph, instance_.sizes, leaf,
                                    {.precision = Precision::Float64})
                 .values(all);
    return true;
  } catch (const UserError&) {
    return false;
  }

  bool is_finite() const {
    for (const TensorData& data : declared_) {
      if (!is_float(data.dtype)) continue;
      for (double value : data.to_doubles()) {
        if (!std::isfinite(value)) return false;
      }
    }
    return true;
  }

  // ---- Classes -------------------------------------------------------------------------------

  // Nodes of the graph that are one class now have one value.
  std::string check_nodes() {
    known_.resize(snapshot_->classes());
    for (uint32_t id = 0; id < instance_.graph->size(); ++id) {
      const Node& node = instance_.graph->node(NodeId{id});
      const egraph::ClassId class_id = snapshot_->class_of(value_of(NodeId{id}));
      std::optional<Known>& known = known_[class_id.index()];
      if (!known) {
        known = Known{declared_[id], exact_[id], {node.dims, node.dtype}};
        continue;
      }
      const Known here{declared_[id], exact_[id], {node.dims, node.dtype}};
      if (auto why = compare(*known, here); !why.empty()) {
        return fmt::format("{} was united with another value: {}",
                           instance_.graph->describe(NodeId{id}), why);
      }
    }
    return "";
  }

  std::string compare(const Known& one, const Known& other) const {
    if (!same_dims(one.type.dims, other.type.dims) || one.type.dtype != other.type.dtype) {
      return fmt::format("types {}{} and {}{}", name(one.type.dtype), text(one.type.dims),
                         name(other.type.dtype), text(other.type.dims));
    }
    // Either may represent the class: one of the two must agree with the other's exact value.
    return compare_values(rule_.numeric_class, one.declared, one.exact, other.declared, other.exact,
                          reordered());
  }

  // The largest magnitude of any value so far, for rules about sums; else 0.
  double reordered() const {
    if (!reorders_sums(rule_)) return 0;
    double largest = 1;
    for (const std::optional<Known>& known : known_) {
      if (!known || !is_float(known->exact.dtype)) continue;
      for (double value : known->exact.to_doubles()) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
      }
    }
    return largest;
  }

  // A class without a node of the graph has the value of its first term.
  std::string evaluate_new_classes() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (uint32_t i = 0; i < snapshot_->classes(); ++i) {
        const egraph::ClassId class_id{i};
        if (known_[i] || snapshot_->sort(class_id) != egraph_.sort("Value")) continue;
        for (const egraph::Node& node : snapshot_->nodes_of(class_id)) {
          std::string why;
          known_[i] = evaluate(node, why);
          if (!why.empty()) return why;
          if (known_[i]) break;
        }
        changed |= known_[i].has_value();
      }
    }
    return "";
  }

  // Terms of the graph itself have been checked node by node.
  std::string check_terms() {
    for (uint32_t i = 0; i < snapshot_->classes(); ++i) {
      if (!known_[i]) continue;
      for (const egraph::Node& node : snapshot_->nodes_of(egraph::ClassId{i})) {
        if (node.origin == egraph::kInitial) continue;
        std::string why;
        const std::optional<Known> value = evaluate(node, why);
        if (why.empty() && value) why = compare(*known_[i], *value);
        if (!why.empty()) {
          return fmt::format("the rule's term {} differs: {}",
                             egraph_.schema().function(node.function).name, why);
        }
      }
    }
    return "";
  }

  // Tensors of one class must hold the same values.
  std::string check_tensors() {
    for (uint32_t i = 0; i < snapshot_->classes(); ++i) {
      const egraph::ClassId class_id{i};
      if (snapshot_->sort(class_id) != egraph_.sort("Tensor")) continue;
      std::optional<Known> first;
      for (const egraph::Node& node : snapshot_->nodes_of(class_id)) {
        const std::optional<Known> value = contents(node);
        if (!value) continue;
        if (!first) first = value;
        if (auto why = compare(*first, *value); !why.empty()) {
          return "two tensors were united: " + why;
        }
      }
    }
    return "";
  }

  std::string check_facts() {
    for (uint32_t i = 0; i < snapshot_->classes(); ++i) {
      if (!known_[i]) continue;
      const Value value = snapshot_->value(egraph::ClassId{i});
      if (const std::optional<Value> type = egraph_.lookup(terms_.type_of, {value})) {
        const Type& said = terms_.host.type(*type);
        if (!same_dims(said.dims, known_[i]->type.dims) || said.dtype != known_[i]->type.dtype) {
          return fmt::format("the type is stated as {}{}, but it is {}{}", name(said.dtype),
                             text(said.dims), name(known_[i]->type.dtype),
                             text(known_[i]->type.dims));
        }
      }
      if (const std::optional<Value> constant = egraph_.lookup(terms_.constant_of, {value})) {
        const Known said = filled(terms_.host.number(*constant), *known_[i]);
        if (auto why = compare(*known_[i], said); !why.empty()) {
          return "a value is stated to be constant, but isn't: " + why;
        }
      }
    }
    return "";
  }

  static Known filled(const Number& number, const Known& like) {
    Graph graph;
    const NodeId id = graph
                          .add({.op = Op::Constant,
                                .dtype = number.dtype,
                                .dims = {},
                                .inputs = {},
                                .attribute = ConstantAttr{number.real, number.integer},
                                .label = {}})
                          .id();
    Dims dims;
    for (int64_t dim : like.declared.dims) dims.emplace_back(dim);
    const NodeId full = graph
                            .add({.op = Op::View,
                                  .dtype = number.dtype,
                                  .dims = dims,
                                  .inputs = {id},
                                  .attribute = IndexMap(dims, {}, {}),
                                  .label = {}})
                            .id();
    const std::vector<NodeId> nodes = {full};
    const TensorData data = interpret::Interpreter(graph, {}, {}).values(nodes)[0];
    return {data, data, {like.type.dims, number.dtype}};
  }

  // ---- One term over the values of its parts -------------------------------------------------

  std::optional<Known> contents(const egraph::Node& node) const {
    const auto children = snapshot_->children(node);
    if (node.function == terms_.store) return known_[children[0].class_id.index()];
    if (node.function != terms_.source) return std::nullopt;
    const auto source = kernel::SourceId::at(egraph_.constants().i64(children[0].value));
    const NodeId id = lowered_.sources[source].node;
    const Node& leaf = instance_.graph->node(id);
    return Known{declared_[id.index()], exact_[id.index()], {leaf.dims, leaf.dtype}};
  }

  // nullopt if a part isn't known yet; `why` is set if the parts don't fit.
  std::optional<Known> evaluate(const egraph::Node& node, std::string& why) const {
    const auto children = snapshot_->children(node);
    if (node.function == terms_.load) {
      for (const egraph::Node& tensor : snapshot_->nodes_of(children[0].class_id)) {
        if (auto known = contents(tensor)) return known;
      }
      return std::nullopt;
    }
    std::vector<const Known*> parts;
    for (const egraph::Child& child : children) {
      if (!child.class_id.valid()) continue;
      if (!known_[child.class_id.index()]) return std::nullopt;
      parts.push_back(&*known_[child.class_id.index()]);
    }
    if (node.function == terms_.reduce || node.function == terms_.scan) {
      const Expr extent = terms_.host.expr(children[1].value);
      const Dims& dims = parts[0]->type.dims;
      if (dims.empty() || dims.back() != extent) {
        why = fmt::format("the rule made a reduction or scan over {} of {}", extent.text(),
                          text(dims));
        return std::nullopt;
      }
    }
    const std::optional<Node> made = graph_node(node);
    if (!made) return std::nullopt;
    if (made->op == Op::Iota && !search::is_over(made->as<IotaAttr>().expr, made->dims)) {
      why = fmt::format("the rule made an iota of {} over {}", made->as<IotaAttr>().expr.text(),
                        text(made->dims));
      return std::nullopt;
    }
    try {
      Known known;
      known.declared = compute(*made, parts, false, known.type);
      known.exact = known.declared;
      Type exact_type;
      if (rule_.numeric_class != RuleClass::Exact && made->op != Op::Bitcast) {
        known.exact = compute(*made, parts, true, exact_type);
      }
      return known;
    } catch (const UserError& error) {
      why = fmt::format("the rule made an invalid term: {}", error.what());
      return std::nullopt;
    }
  }

  // With `exact`, all floats are f64, so that nothing is rounded.
  TensorData compute(Node made, const std::vector<const Known*>& parts, bool exact,
                     Type& type) const {
    auto dtype = [&](DType declared) {
      return exact && is_float(declared) ? DType::F64 : declared;
    };
    Graph graph;
    std::vector<TensorData> data;
    for (const Known* part : parts) {
      const std::string name = fmt::format("p{}", data.size());
      made.inputs.push_back(graph.input(name, part->type.dims, dtype(part->type.dtype)).id());
      data.push_back(exact ? part->exact.cast(dtype(part->type.dtype)) : part->declared);
    }
    made.dtype = dtype(made.dtype);
    const std::vector<NodeId> wanted = {graph.add(std::move(made)).id()};
    type = {graph.node(wanted[0]).dims, graph.node(wanted[0]).dtype};
    auto leaf = [&](NodeId id) { return data[id.index()]; };
    return interpret::Interpreter(graph, instance_.sizes, leaf).values(wanted)[0];
  }

  // The primitive behind a term; nullopt for a custom op.
  std::optional<Node> graph_node(const egraph::Node& node) const {
    const auto children = snapshot_->children(node);
    Node made{
        .op = Op::Add, .dtype = DType::F32, .dims = {}, .inputs = {}, .attribute = {}, .label = {}};
    auto word = [&] { return egraph_.constants().string(children[0].value); };
    if (node.function == terms_.constant) {
      const Number& number = terms_.host.number(children[0].value);
      made.op = Op::Constant;
      made.dtype = number.dtype;
      made.attribute = ConstantAttr{number.real, number.integer};
    } else if (node.function == terms_.iota) {
      const Type& type = terms_.host.type(children[1].value);
      made.op = Op::Iota;
      made.dtype = type.dtype;
      made.dims = type.dims;
      made.attribute = IotaAttr{terms_.host.expr(children[0].value)};
    } else if (node.function == terms_.reindex) {
      made.op = Op::View;
      made.attribute = terms_.host.map(children[0].value);
    } else if (node.function == terms_.reduce || node.function == terms_.scan) {
      const std::optional<Reducer> reducer = reducer_from_name(word());
      if (!reducer) return std::nullopt;
      made.op = node.function == terms_.reduce ? Op::Reduce : Op::Scan;
      made.attribute = ReduceAttr{*reducer};
    } else if (node.function == terms_.store_at) {
      made.op = Op::Scatter;
      made.attribute = ScatterAttr{reducer_from_name(word())};
    } else if (node.function == terms_.gather) {
      made.op = Op::Gather;
    } else if (node.function == terms_.cast || node.function == terms_.bitcast) {
      made.op = node.function == terms_.cast ? Op::Cast : Op::Bitcast;
      made.dtype = dtype_from_name(word()).value_or(DType::F32);
    } else if (const std::optional<Op> op = terms_.op_of(node.function)) {
      made.op = *op;
    } else {
      return std::nullopt;
    }
    return made;
  }

  const RuleInstance& instance_;
  const RuleInfo& rule_;
  Terms& terms_;
  egraph::EGraph& egraph_;
  search::LoweredGraph lowered_;
  std::vector<TensorData> declared_, exact_;  // by node of the graph
  std::optional<egraph::Snapshot> snapshot_;
  std::vector<std::optional<Known>> known_;  // by class
};

}  // namespace

Verdict check_instance(const RuleInstance& instance, const RuleInfo& rule, Terms& terms) {
  return Checking(instance, rule, terms).run();
}

}  // namespace luminal::rule_testing

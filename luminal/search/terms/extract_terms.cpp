#include "luminal/search/terms/extract_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/search/terms/choose_terms.h"
#include "luminal/search/terms/term_types.h"

namespace luminal::search {
namespace {

using egraph::Snapshot;
using kernel::ClassId;
using kernel::Term;

class Extraction {
 public:
  Extraction(const Graph& graph, const LoweredGraph& lowered, Terms& terms)
      : graph_(graph), lowered_(lowered), terms_(terms), snapshot_(terms.egraph.snapshot()) {
    for (Op op : all_ops()) {
      if (is_elementwise(op) && op_class(op) != OpClass::Convert) ops_.emplace(terms_.op(op), op);
    }
  }

  ExtractedTerms run() {
    number_classes();
    for (const SourceTensor& source : lowered_.sources) {
      const Node& node = graph_.node(source.node);
      const auto* input = std::get_if<InputAttr>(&node.attribute);
      out_.graph.sources.push_back({.dims = node.dims,
                                    .dtype = node.dtype,
                                    .name = graph_.describe(source.node),
                                    .is_state = input != nullptr && input->role == Role::State});
    }
    out_.graph.classes.resize(value_classes_.size());
    for (size_t i = 0; i < value_classes_.size(); ++i) add_terms(i);
    infer_types();
    drop_replaced_host_steps();
    out_.class_of.resize(graph_.size());
    for (size_t id = 0; id < lowered_.value_of.size(); ++id) {
      if (lowered_.value_of[id].valid()) {
        out_.class_of[id] = dense(snapshot_.class_of(lowered_.value_of[id]));
        LUMINAL_CHECK(typed_[out_.class_of[id].index()], "a class has no known type");
      }
    }
    return std::move(out_);
  }

 private:
  ClassId dense(egraph::ClassId id) const { return numbers_[id.index()]; }

  void number_classes() {
    const egraph::SortId value = terms_.egraph.sort("Value");
    numbers_.resize(snapshot_.classes());
    for (uint32_t i = 0; i < snapshot_.classes(); ++i) {
      const egraph::ClassId id{i};
      if (snapshot_.sort(id) != value) continue;
      numbers_[i] = ClassId{static_cast<uint32_t>(value_classes_.size())};
      value_classes_.push_back(id);
    }
  }

  void add_terms(size_t i) {
    std::vector<std::string> rules;
    for (egraph::RuleId rule : snapshot_.rules_behind(value_classes_[i])) {
      if (rule != egraph::kInitial) rules.push_back(terms_.egraph.rule_name(rule));
    }
    for (const egraph::Node& node : snapshot_.nodes_of(value_classes_[i])) {
      std::optional<Term> term = term_of(node);
      if (!term || reads_itself(*term, i)) continue;
      out_.graph.classes[i].terms.push_back(std::move(*term));
      if (node.origin != egraph::kInitial) rules.push_back(terms_.egraph.rule_name(node.origin));
    }
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    out_.rules.push_back(std::move(rules));
  }

  // A term that reads its own class (x = x + 0) computes nothing.
  static bool reads_itself(const Term& term, size_t i) {
    const std::vector<ClassId> reads = kernel::operands(term);
    return std::find(reads.begin(), reads.end(), ClassId{static_cast<uint32_t>(i)}) != reads.end();
  }

  // nullopt for what no kernel computes: a load of what a kernel stores, a custom op.
  std::optional<Term> term_of(const egraph::Node& node) const {
    const auto children = snapshot_.children(node);
    auto operand = [&](size_t k) { return dense(children[k].class_id); };
    if (node.function == terms_.load) return load_of(node);
    if (node.function == terms_.constant) {
      const Number& number = terms_.host.number(children[0].value);
      return kernel::ConstTerm{number.real, number.integer};
    }
    if (node.function == terms_.iota) return kernel::IotaTerm{terms_.host.expr(children[0].value)};
    if (node.function == terms_.reindex) {
      return kernel::ReindexTerm{terms_.host.map(children[0].value), operand(1)};
    }
    if (node.function == terms_.reduce) {
      return kernel::ReduceTerm{reducer_of(node), operand(2)};
    }
    if (node.function == terms_.scan) {
      return kernel::ScanTerm{reducer_of(node), operand(2)};
    }
    if (node.function == terms_.gather) return kernel::GatherTerm{operand(0), operand(1)};
    if (node.function == terms_.store_at) {
      std::optional<Reducer> combine;
      if (string_of(node) != "replace") combine = reducer_of(node);
      return kernel::StoreAtTerm{combine, operand(1), operand(2), operand(3)};
    }
    if (node.function == terms_.cast) return kernel::OpTerm{Op::Cast, {operand(1)}};
    if (node.function == terms_.bitcast) return kernel::OpTerm{Op::Bitcast, {operand(1)}};
    const auto known = ops_.find(node.function);
    if (known == ops_.end()) return std::nullopt;  // a custom op
    kernel::OpTerm op{known->second, {}};
    for (size_t k = 0; k < children.size(); ++k) op.operands.push_back(operand(k));
    return op;
  }

  std::optional<Term> load_of(const egraph::Node& load) const {
    for (const egraph::Node& node : snapshot_.nodes_of(snapshot_.children(load)[0].class_id)) {
      if (node.function != terms_.source) continue;
      const int64_t number = terms_.egraph.constants().i64(snapshot_.children(node)[0].value);
      const auto count = static_cast<int64_t>(lowered_.sources.size());
      if (number < 0 || number >= count) {
        fail(node, fmt::format("made (Source {}), but this graph's are 0 to {}; match the one that "
                               "is there instead",
                               number, count - 1));
      }
      return kernel::LoadTerm{kernel::SourceId::at(number)};
    }
    return std::nullopt;
  }

  // ---- Strings in terms, which a rule may get wrong -------------------------------------------

  const std::string& string_of(const egraph::Node& node) const {
    return terms_.egraph.constants().string(snapshot_.children(node)[0].value);
  }

  Reducer reducer_of(const egraph::Node& node) const {
    const std::optional<Reducer> reducer = reducer_from_name(string_of(node));
    if (reducer) return *reducer;
    const bool stores = node.function == terms_.store_at;
    fail(node, fmt::format("made a {} by \"{}\"; there are {}{}",
                           stores ? "StoreAt" : "reduction or scan", string_of(node),
                           stores ? "replace, " : "", names_of(all_reducers())));
  }

  DType dtype_of(const egraph::Node& node) const {
    const std::optional<DType> dtype = dtype_from_name(string_of(node));
    if (dtype) return *dtype;
    fail(node, fmt::format("made a cast to \"{}\"; the dtypes are {}", string_of(node),
                           names_of(all_dtypes())));
  }

  template <typename T>
  static std::string names_of(std::span<const T> all) {
    std::string names;
    for (T each : all) names += fmt::format("{}{}", names.empty() ? "" : ", ", name(each));
    return names;
  }

  // ---- Host steps that a rule replaces ---------------------------------------------------------

  bool loads_host_step(const Term& term) const {
    const auto* load = std::get_if<kernel::LoadTerm>(&term);
    return load != nullptr && lowered_.sources[load->source].host_step;
  }

  // Kernels are preferred to a host callback. If the other terms need the step's own result, it
  // stays.
  void drop_replaced_host_steps() {
    std::vector<std::pair<size_t, Term>> dropped;
    for (size_t i = 0; i < out_.graph.classes.size(); ++i) {
      auto& terms = out_.graph.classes[i].terms;
      if (std::all_of(terms.begin(), terms.end(),
                      [&](const Term& term) { return loads_host_step(term); })) {
        continue;
      }
      for (const Term& term : terms) {
        if (loads_host_step(term)) dropped.emplace_back(i, term);
      }
      std::erase_if(terms, [&](const Term& term) { return loads_host_step(term); });
    }
    while (!dropped.empty()) {
      const ChosenTerms chosen = choose_terms(out_.graph, {});
      const auto lost = std::find_if(dropped.begin(), dropped.end(), [&](const auto& entry) {
        return chosen.term[entry.first] < 0;
      });
      if (lost == dropped.end()) return;
      out_.graph.classes[lost->first].terms.push_back(lost->second);
      dropped.erase(lost);
    }
  }

  // ---- Types ---------------------------------------------------------------------------------

  // Types are inferred from loads and constants upwards; a class has the type of any of its terms,
  // and all agree. What is computed from a custom op that isn't in the graph has no type, and
  // nothing reads it.
  void infer_types() {
    typed_.assign(value_classes_.size(), false);
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t i = 0; i < value_classes_.size(); ++i) {
        for (size_t t = 0; t < snapshot_nodes(i).size(); ++t) changed |= type_node(i, t);
      }
    }
    blame_added_rules();
  }

  // An ill-formed term of an embedded rule may stem from a wrong term or fact of an added rule, so
  // that one is blamed first if there is one.
  void blame_added_rules() const {
    if (internal_.empty()) return;
    const RuleInfo* rule = terms_.rules.suspect(internal_);
    if (rule == nullptr) throw InternalError(internal_);
    throw UserError(fmt::format("{}, but not without {}: a rule there is wrong; {} finds it",
                                internal_, rule->place(),
                                rule_test_text(rule->file, rule->origin)));
  }

  std::span<const egraph::Node> snapshot_nodes(size_t i) const {
    return snapshot_.nodes_of(value_classes_[i]);
  }

  bool type_node(size_t i, size_t t) {
    const egraph::Node& node = snapshot_nodes(i)[t];
    std::optional<Type> type;
    try {
      type = added_rule(node) != nullptr ? type_of_added(node) : type_of(node);
      if (type && typed_[i]) check_agrees(node, out_.graph.classes[i], *type);
    } catch (const InternalError& error) {
      if (internal_.empty()) internal_ = error.what();
      return false;
    }
    if (!type || typed_[i]) return false;
    typed_[i] = true;
    out_.graph.classes[i].dims = type->dims;
    out_.graph.classes[i].dtype = type->dtype;
    return true;
  }

  void check_agrees(const egraph::Node& node, const kernel::TermClass& known,
                    const Type& type) const {
    if (same_dims(known.dims, type.dims) && known.dtype == type.dtype) return;
    fail(node, fmt::format("united values of different types: {}{} and {}{}", name(known.dtype),
                           text(known.dims), name(type.dtype), text(type.dims)));
  }

  // An ill-formed term is the fault of the rule that made it.
  [[noreturn]] void fail(const egraph::Node& node, const std::string& what) const {
    if (const RuleInfo* rule = added_rule(node)) {
      throw UserError(fmt::format("{}: rule '{}' {}; {} shows an example", rule->place(),
                                  rule->name, what, rule_test_text(rule->file, rule->origin)));
    }
    throw InternalError(fmt::format("rule '{}' {}", terms_.egraph.rule_name(node.origin), what));
  }

  // The added rule that made a node; null if an embedded one did.
  const RuleInfo* added_rule(const egraph::Node& node) const {
    if (node.origin == egraph::kInitial) return nullptr;
    const RuleInfo* info = terms_.rules.find(terms_.egraph.rule_name(node.origin));
    return info != nullptr && !info->is_embedded() ? info : nullptr;
  }

  // Embedded rules are tested; an added rule may make ill-typed terms, so each of its terms is
  // checked by the graph's own type rules.
  std::optional<Type> type_of_added(const egraph::Node& node) const {
    const std::optional<Term> term = term_of(node);
    if (!term) return std::nullopt;
    std::vector<Type> operands;
    for (ClassId id : kernel::operands(*term)) {
      if (!typed_[id.index()]) return std::nullopt;
      operands.push_back({out_.graph.at(id).dims, out_.graph.at(id).dtype});
    }
    const auto children = snapshot_.children(node);
    Type said{{}, DType::F32};
    if (node.function == terms_.iota) said = terms_.host.type(children[1].value);
    if (node.function == terms_.constant) said.dtype = terms_.host.number(children[0].value).dtype;
    if (node.function == terms_.cast || node.function == terms_.bitcast)
      said.dtype = dtype_of(node);
    if (node.function == terms_.load || node.function == terms_.iota) return type_of(node);
    try {
      const Type type = type_by_graph(*term, said, operands);
      if (node.function == terms_.reduce || node.function == terms_.scan) type_of(node);
      return type;
    } catch (const UserError& error) {
      fail(node, fmt::format("made a term that no primitive accepts: {}", error.what()));
    }
  }

  std::optional<Type> type_of(const egraph::Node& node) const {
    const auto children = snapshot_.children(node);
    auto operand = [&](size_t k) -> std::optional<Type> {
      const ClassId id = dense(children[k].class_id);
      if (!typed_[id.index()]) return std::nullopt;
      return Type{out_.graph.at(id).dims, out_.graph.at(id).dtype};
    };
    if (node.function == terms_.load) {
      const std::optional<Term> load = load_of(node);
      if (!load) return std::nullopt;
      const auto& source = out_.graph.sources[std::get<kernel::LoadTerm>(*load).source];
      return Type{source.dims, source.dtype};
    }
    if (node.function == terms_.constant)
      return Type{{}, terms_.host.number(children[0].value).dtype};
    if (node.function == terms_.iota) {
      const Type& said = terms_.host.type(children[1].value);
      const Expr expr = terms_.host.expr(children[0].value);
      if (!is_over(expr, said.dims)) {
        fail(node, fmt::format("made an iota of {} over {}", expr.text(), text(said.dims)));
      }
      return said;
    }
    if (node.function == terms_.gather) return gather_type(operand(0), operand(1));
    if (node.function == terms_.store_at) return operand(1);
    std::optional<Type> type;
    if (node.function == terms_.reindex) {
      type = operand(1);
      const IndexMap& map = terms_.host.map(children[0].value);
      if (type && !same_dims(type->dims, map.source_dims())) {
        fail(node, fmt::format("made a view of {} where its operand is {}", text(map.source_dims()),
                               text(type->dims)));
      }
      if (type) type->dims = map.dims();
      return type;
    }
    if (node.function == terms_.reduce || node.function == terms_.scan) {
      type = operand(2);
      if (type &&
          (type->dims.empty() || type->dims.back() != terms_.host.expr(children[1].value))) {
        fail(node, fmt::format("made a reduction or scan over {} of {}",
                               terms_.host.expr(children[1].value).text(), text(type->dims)));
      }
      if (type && node.function == terms_.reduce) type->dims.pop_back();
      return type;
    }
    if (node.function == terms_.cast || node.function == terms_.bitcast) {
      type = operand(1);
      if (type) {
        type->dtype = dtype_of(node);
      }
      return type;
    }
    const auto known = ops_.find(node.function);
    if (known == ops_.end()) return std::nullopt;
    const Op op = known->second;
    type = operand(op == Op::Select ? 1 : 0);
    for (size_t k = op == Op::Select ? 1 : 0; type && k < children.size(); ++k) {
      const std::optional<Type> other = operand(k);
      if (!other) return std::nullopt;
      if (!same_dims(type->dims, other->dims) || type->dtype != other->dtype) {
        fail(node, fmt::format("made {} of {}{} and {}{}", name(op), name(type->dtype),
                               text(type->dims), name(other->dtype), text(other->dims)));
      }
    }
    if (type && gives_bool(op)) type->dtype = DType::Bool;
    return type;
  }

  static std::optional<Type> gather_type(const std::optional<Type>& data,
                                         const std::optional<Type>& index) {
    if (!data || !index) return std::nullopt;
    Type type{index->dims, data->dtype};
    type.dims.insert(type.dims.end(), data->dims.begin() + 1, data->dims.end());
    return type;
  }

  const Graph& graph_;
  const LoweredGraph& lowered_;
  Terms& terms_;
  Snapshot snapshot_;
  std::unordered_map<egraph::FunctionId, Op> ops_;
  std::vector<ClassId> numbers_;                // by class of the snapshot
  std::vector<egraph::ClassId> value_classes_;  // by number
  std::vector<bool> typed_;
  std::string internal_;  // the first fault of a built-in rule
  ExtractedTerms out_;
};

}  // namespace

ExtractedTerms extract_terms(const Graph& graph, const LoweredGraph& lowered, Terms& terms) {
  return Extraction(graph, lowered, terms).run();
}

}  // namespace luminal::search

#include "luminal/search/extract_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "luminal/base/check.h"

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
      const OpClass kind = op_class(op);
      if (kind == OpClass::Unary || kind == OpClass::Binary || kind == OpClass::Ternary) {
        ops_.emplace(terms_.op(op), op);
      }
    }
  }

  ExtractedTerms run() {
    number_classes();
    for (const SourceTensor& source : lowered_.sources) {
      const Node& node = graph_.node(source.node);
      out_.graph.sources.push_back({node.dims, node.dtype, graph_.describe(source.node)});
    }
    out_.graph.classes.resize(value_classes_.size());
    for (size_t i = 0; i < value_classes_.size(); ++i) add_terms(i);
    infer_types();
    out_.class_of.resize(graph_.size());
    for (size_t id = 0; id < lowered_.value_of.size(); ++id) {
      if (lowered_.value_of[id].valid()) {
        out_.class_of[id] = dense(snapshot_.class_of(lowered_.value_of[id]));
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
      if (!term) continue;
      // A flip of what repeats is the same value: a class may name itself, which computes nothing.
      const std::vector<ClassId> operands = kernel::operands(*term);
      if (std::find(operands.begin(), operands.end(), ClassId{static_cast<uint32_t>(i)}) !=
          operands.end()) {
        continue;
      }
      out_.graph.classes[i].terms.push_back(std::move(*term));
      if (node.origin != egraph::kInitial) rules.push_back(terms_.egraph.rule_name(node.origin));
    }
    LUMINAL_CHECK(!out_.graph.classes[i].terms.empty(), "a class without a term that computes it");
    std::sort(rules.begin(), rules.end());
    rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
    out_.rules.push_back(std::move(rules));
  }

  // None for what lowering has no use for: an identity view, a load of what a kernel stores.
  std::optional<Term> term_of(const egraph::Node& node) const {
    const auto children = snapshot_.children(node);
    auto operand = [&](size_t k) { return dense(children[k].class_id); };
    if (node.function == terms_.load) return load_of(children[0].class_id);
    if (node.function == terms_.constant) {
      const Number& number = terms_.host.number(children[0].value);
      return kernel::ConstTerm{number.real, number.integer};
    }
    if (node.function == terms_.iota) return kernel::IotaTerm{terms_.host.expr(children[0].value)};
    if (node.function == terms_.reindex) {
      const IndexMap& map = terms_.host.map(children[0].value);
      if (map.is_identity()) return std::nullopt;
      return kernel::ReindexTerm{map, operand(1)};
    }
    if (node.function == terms_.reduce) {
      const std::string& reducer = terms_.egraph.constants().string(children[0].value);
      return kernel::ReduceTerm{*reducer_from_name(reducer), operand(2)};
    }
    if (node.function == terms_.gather) return kernel::GatherTerm{operand(0), operand(1)};
    if (node.function == terms_.cast) return kernel::OpTerm{Op::Cast, {operand(1)}};
    if (node.function == terms_.bitcast) return kernel::OpTerm{Op::Bitcast, {operand(1)}};
    kernel::OpTerm op{ops_.at(node.function), {}};
    for (size_t k = 0; k < children.size(); ++k) op.operands.push_back(operand(k));
    return op;
  }

  std::optional<Term> load_of(egraph::ClassId tensor) const {
    for (const egraph::Node& node : snapshot_.nodes_of(tensor)) {
      if (node.function != terms_.source) continue;
      const int64_t number = terms_.egraph.constants().i64(snapshot_.children(node)[0].value);
      return kernel::LoadTerm{static_cast<int>(number)};
    }
    return std::nullopt;
  }

  // ---- Types ---------------------------------------------------------------------------------

  // Types flow up from loads and constants; a class has the type of any of its terms, and all
  // agree.
  void infer_types() {
    typed_.assign(value_classes_.size(), false);
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t i = 0; i < value_classes_.size(); ++i) {
        for (size_t t = 0; t < snapshot_nodes(i).size(); ++t) changed |= type_node(i, t);
      }
    }
    for (bool typed : typed_) LUMINAL_CHECK(typed, "a class whose type nothing says");
  }

  std::span<const egraph::Node> snapshot_nodes(size_t i) const {
    return snapshot_.nodes_of(value_classes_[i]);
  }

  bool type_node(size_t i, size_t t) {
    const egraph::Node& node = snapshot_nodes(i)[t];
    std::optional<Type> type = type_of(node);
    if (!type) return false;
    kernel::TermClass& known = out_.graph.classes[i];
    if (!typed_[i]) {
      typed_[i] = true;
      known.dims = type->dims;
      known.dtype = type->dtype;
      return true;
    }
    LUMINAL_CHECK(same_dims(known.dims, type->dims) && known.dtype == type->dtype,
                  fmt::format("rule '{}' joined values of different types: {}{} and {}{}",
                              terms_.egraph.rule_name(node.origin), name(known.dtype),
                              text(known.dims), name(type->dtype), text(type->dims)));
    return false;
  }

  std::optional<Type> type_of(const egraph::Node& node) const {
    const auto children = snapshot_.children(node);
    auto operand = [&](size_t k) -> std::optional<Type> {
      const ClassId id = dense(children[k].class_id);
      if (!typed_[id.index()]) return std::nullopt;
      return Type{out_.graph.at(id).dims, out_.graph.at(id).dtype};
    };
    if (node.function == terms_.load) {
      const std::optional<Term> load = load_of(children[0].class_id);
      if (!load) return std::nullopt;
      const auto& source =
          out_.graph.sources[static_cast<size_t>(std::get<kernel::LoadTerm>(*load).source)];
      return Type{source.dims, source.dtype};
    }
    if (node.function == terms_.constant)
      return Type{{}, terms_.host.number(children[0].value).dtype};
    if (node.function == terms_.iota) return terms_.host.type(children[1].value);
    if (node.function == terms_.gather) return gather_type(operand(0), operand(1));
    std::optional<Type> type;
    if (node.function == terms_.reindex) {
      type = operand(1);
      if (type) type->dims = terms_.host.map(children[0].value).dims();
      return type;
    }
    if (node.function == terms_.reduce) {
      type = operand(2);
      if (type) type->dims.pop_back();
      return type;
    }
    if (node.function == terms_.cast || node.function == terms_.bitcast) {
      type = operand(1);
      if (type) {
        type->dtype = *dtype_from_name(terms_.egraph.constants().string(children[0].value));
      }
      return type;
    }
    const Op op = ops_.at(node.function);
    type = operand(op == Op::Select ? 1 : 0);
    if (type && (op == Op::LessThan || op == Op::Equal)) type->dtype = DType::Bool;
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
  ExtractedTerms out_;
};

}  // namespace

ExtractedTerms extract_terms(const Graph& graph, const LoweredGraph& lowered, Terms& terms) {
  return Extraction(graph, lowered, terms).run();
}

}  // namespace luminal::search

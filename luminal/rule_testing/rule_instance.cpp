#include "luminal/rule_testing/rule_instance.h"

#include <fmt/format.h>

#include <utility>

#include "luminal/base/errors.h"
#include "luminal/graph/tensor.h"
#include "luminal/rule_testing/instance_leaves.h"
#include "luminal/rule_testing/random_convolution.h"
#include "luminal/rule_testing/rule_pattern.h"

namespace luminal::rule_testing {
namespace {

using Pattern = egraph::Expr;
using Kind = egraph::Expr::Kind;

class Building {
 public:
  Building(const RuleInfo& rule, const CustomOps& custom_ops, Random& random, Values values)
      : rule_(rule),
        custom_ops_(custom_ops),
        random_(random),
        values_(values),
        leaves_(out_, random, values, folds_weights(rule) ? Role::Weight : Role::Input) {
    if (convolves(rule)) convolution_ = random_convolution(random);
  }

  std::optional<RuleInstance> run() {
    out_.sizes = random_sizes(random_);
    try {
      const RulePattern pattern(rule_);
      pattern_ = &pattern;
      for (const Pattern* root : pattern.outermost) build_root(*root);
      for (const std::string& variable : pattern.asked) {
        if (!values_by_name_.contains(variable)) build_variable(variable, random_type());
      }
      leaves_.fill();
    } catch (const Untestable& untestable) {
      throw UserError(fmt::format("{}: rule '{}' can't be tested automatically: {}", rule_.file,
                                  rule_.name, untestable.why));
    } catch (const DoesNotFit&) {
      return std::nullopt;
    } catch (const UserError&) {  // an op that doesn't take these types
      return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  // ---- Terms, from the outside in ------------------------------------------------------------

  void build_root(const Pattern& term) {
    if (term.name == "Store") {
      out_.stores.push_back(build(term.args.at(0), random_type()));
      return;
    }
    build(term, root_type(term));
  }

  Type random_type() {
    const bool f32 = folds_weights(rule_) && !random_.one_in(4);  // the one that products fold into
    return {random_dims(random_), f32 ? DType::F32 : random_dtype(random_)};
  }

  // A type that the op can have, so that fewer tries fail.
  Type root_type(const Pattern& term) {
    if (convolution_) return {convolution_->result, DType::F32};
    Type type = random_type();
    if (term.name == "Const") type.dims.clear();
    const bool has_rows = term.name == "Scan" || term.name == "StoreAt";
    if (has_rows) type.dims.push_back(random_extent(random_));
    if (term.name == "LessThan" || term.name == "Equal") type.dtype = DType::Bool;
    return type;
  }

  NodeId build(const Pattern& pattern, const Type& type) {
    if (pattern.kind == Kind::Variable) return build_variable(pattern.name, type);
    if (!is_term(pattern)) throw DoesNotFit{};
    const NodeId id = build_term(pattern, type);
    const Node& node = out_.graph->node(id);
    if (!same_dims(node.dims, type.dims) || node.dtype != type.dtype) throw DoesNotFit{};
    return id;
  }

  NodeId build_variable(const std::string& name, const Type& type) {
    if (auto bound = values_by_name_.find(name); bound != values_by_name_.end()) {
      const Node& node = out_.graph->node(bound->second);
      if (!same_dims(node.dims, type.dims) || node.dtype != type.dtype) throw DoesNotFit{};
      return bound->second;
    }
    NodeId id;
    if (auto definition = pattern_->definitions.find(name);
        definition != pattern_->definitions.end()) {
      id = build(*definition->second, type);
    } else if (auto constant = pattern_->constants.find(name);
               constant != pattern_->constants.end()) {
      id = leaves_.full(number(constant->second, type.dtype), type.dims);
    } else {
      id = leaves_.leaf(type);
    }
    values_by_name_.emplace(name, id);
    return id;
  }

  NodeId build_term(const Pattern& term, const Type& type) {
    if (const auto op = search::elementwise_op(term.name))
      return build_elementwise(term, *op, type);
    if (is_call_term(term.name)) return build_call(term, type);
    if (term.name == "Const") {
      if (!type.dims.empty()) throw DoesNotFit{};
      return leaves_.full(number(variable_of(term.args.at(0)), type.dtype), {});
    }
    if (term.name == "Iota") {
      return leaves_.add({.op = Op::Iota,
                          .dtype = type.dtype,
                          .dims = type.dims,
                          .inputs = {},
                          .attribute = IotaAttr{random_index(random_, type.dims)},
                          .label = {}});
    }
    if (term.name == "Reindex") return build_view(term, type);
    if (term.name == "Reduce") return build_reduction(term, type);
    if (term.name == "Scan") return build_scan(term, type);
    if (term.name == "Gather") return build_gather(term, type);
    if (term.name == "StoreAt") return build_store_at(term, type);
    if (term.name == "Load") {
      if (term.args.at(0).kind != Kind::Variable) throw DoesNotFit{};
      return build_variable(term.args[0].name, type);
    }
    return build_conversion(term, type);
  }

  // Operands are made in random order, since creation order is what sorts those of a commutative
  // op.
  NodeId build_elementwise(const Pattern& term, Op op, const Type& type) {
    const bool compares = gives_bool(op);
    if (compares && type.dtype != DType::Bool) throw DoesNotFit{};
    const Type operand{type.dims, compares ? random_dtype(random_) : type.dtype};
    std::vector<Type> types(term.args.size(), operand);
    if (op == Op::Select) types[0].dtype = DType::Bool;
    std::vector<NodeId> inputs = build_all(term.args, types);
    return leaves_.add({.op = op,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = std::move(inputs),
                        .attribute = {},
                        .label = {}});
  }

  std::vector<NodeId> build_all(std::span<const Pattern> patterns, const std::vector<Type>& types) {
    std::vector<NodeId> ids(patterns.size());
    const size_t first = random_.below(patterns.size());
    for (size_t k = 0; k < patterns.size(); ++k) {
      const size_t at = (first + k) % patterns.size();
      ids[at] = build(patterns[at], types[at]);
    }
    return ids;
  }

  IndexMap random_map(const Pattern& variable, const Dims& dims) {
    if (convolution_) return variable.name == "mx" ? convolution_->windows : convolution_->filter;
    // Factors of sums mostly depend on some of the indices.
    const bool projects = reorders_sums(rule_) && !random_.one_in(4);
    return projects ? random_projection_into(random_, dims) : random_map_into(random_, dims);
  }

  NodeId build_view(const Pattern& term, const Type& type) {
    const Pattern& variable = term.args.at(0);
    const IndexMap map = bind(maps_, variable, random_map(variable, type.dims));
    if (!same_dims(map.dims(), type.dims)) throw DoesNotFit{};
    const NodeId operand = build(term.args.at(1), {map.source_dims(), type.dtype});
    return leaves_.view(operand, map);
  }

  Reducer reducer_of(const Pattern& term) {
    const char* reducers[] = {"sum", "prod", "max"};
    const std::optional<Reducer> known =
        reducer_from_name(bind_text(term.args.at(0), random_.pick(reducers)));
    if (!known) throw DoesNotFit{};
    return *known;
  }

  NodeId build_reduction(const Pattern& term, const Type& type) {
    const Reducer reducer = reducer_of(term);
    Type operand = type;
    const Expr extent = convolution_ ? convolution_->summed : random_extent(random_);
    operand.dims.push_back(bind(extents_, term.args.at(1), extent));
    const NodeId input = build(term.args.at(2), operand);
    return leaves_.add({.op = Op::Reduce,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = {input},
                        .attribute = ReduceAttr{reducer},
                        .label = {}});
  }

  NodeId build_scan(const Pattern& term, const Type& type) {
    if (type.dims.empty()) throw DoesNotFit{};
    const Reducer reducer = reducer_of(term);
    if (bind(extents_, term.args.at(1), type.dims.back()) != type.dims.back()) throw DoesNotFit{};
    const NodeId input = build(term.args.at(2), type);
    return leaves_.add({.op = Op::Scan,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = {input},
                        .attribute = ReduceAttr{reducer},
                        .label = {}});
  }

  NodeId build_index(const Pattern& term, const Type& type, Expr rows) {
    if (term.kind == Kind::Variable && !pattern_->definitions.contains(term.name)) {
      if (!values_by_name_.contains(term.name)) {
        values_by_name_.emplace(term.name, leaves_.input(type));
      }
    }
    const NodeId id = build(term, type);
    leaves_.names_rows(id, rows);
    return id;
  }

  // Scatters that sum or multiply 16-bit floats have no such term: they are cast to f32 around it.
  NodeId build_store_at(const Pattern& term, const Type& type) {
    if (type.dims.empty()) throw DoesNotFit{};
    const char* combines[] = {"replace", "sum", "prod", "max"};
    const std::string combine = bind_text(term.args.at(0), random_.pick(combines));
    const std::optional<Reducer> reducer = reducer_from_name(combine);
    if (!reducer && combine != "replace") throw DoesNotFit{};
    const bool half = is_half(type.dtype);
    if (half && reducer && *reducer != Reducer::Max) throw DoesNotFit{};
    Type index{Dims(random_.below(3)), random_.one_in(2) ? DType::I64 : DType::I32};
    for (Expr& dim : index.dims) dim = random_extent(random_);
    Type values{index.dims, type.dtype};
    values.dims.insert(values.dims.end(), type.dims.begin() + 1, type.dims.end());
    const NodeId dest_id = build(term.args.at(1), type);
    const NodeId index_id = build_index(term.args.at(2), index, type.dims[0]);
    const NodeId values_id = build(term.args.at(3), values);
    return leaves_.add({.op = Op::Scatter,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = {dest_id, index_id, values_id},
                        .attribute = ScatterAttr{reducer},
                        .label = {}});
  }

  // Dims of the index, then the remaining ones of the data: the border is random.
  NodeId build_gather(const Pattern& term, const Type& type) {
    const auto border =
        type.dims.begin() + static_cast<std::ptrdiff_t>(random_.below(type.dims.size() + 1));
    const auto rows = static_cast<int64_t>(1 + random_.below(4));
    Type data{{rows}, type.dtype};
    data.dims.insert(data.dims.end(), border, type.dims.end());
    const Type index{{type.dims.begin(), border}, random_.one_in(2) ? DType::I64 : DType::I32};
    const NodeId data_id = build(term.args.at(0), data);
    const NodeId index_id = build_index(term.args.at(1), index, rows);
    return leaves_.add({.op = Op::Gather,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = {data_id, index_id},
                        .attribute = {},
                        .label = {}});
  }

  NodeId build_conversion(const Pattern& term, const Type& type) {
    const std::string dtype = bind_text(term.args.at(0), std::string(name(type.dtype)));
    if (dtype != name(type.dtype)) throw DoesNotFit{};
    const Type operand{type.dims, random_dtype(random_)};
    const NodeId input = build(term.args.at(1), operand);
    return leaves_.add({.op = term.name == "Cast" ? Op::Cast : Op::Bitcast,
                        .dtype = type.dtype,
                        .dims = type.dims,
                        .inputs = {input},
                        .attribute = {},
                        .label = {}});
  }

  NodeId build_call(const Pattern& term, const Type& type) {
    const std::string name = bind_text(term.args.at(0), "");
    const auto op = custom_ops_.find(name);
    if (op == custom_ops_.end()) {
      throw Untestable{fmt::format(
          "it matches custom op '{}', which isn't known here; give it to test_rules()", name)};
    }
    const std::span<const Pattern> operands = std::span(term.args).subspan(1);
    std::vector<Type> types(operands.size(), type);
    std::vector<Tensor> inputs;
    for (NodeId id : build_all(operands, types)) inputs.push_back(out_.graph->tensor(id));
    return custom_op(op->second, inputs).id();
  }

  // Guards ask for 0 and 1, which are not among the positive values.
  Number number(const std::string& variable, DType dtype) {
    const Values values = values_ == Values::Positive ? Values::Finite : values_;
    Number made = random_number(random_, dtype, values);
    if (!variable.empty()) made = numbers_.emplace(variable, made).first->second;
    if (made.dtype != dtype) throw DoesNotFit{};
    return made;
  }

  // ---- Variables -----------------------------------------------------------------------------

  static std::string variable_of(const Pattern& pattern) {
    return pattern.kind == Kind::Variable ? pattern.name : "";
  }

  // What a variable is bound to already, or `fresh` from now on.
  template <typename T>
  T bind(std::map<std::string, T>& bound, const Pattern& pattern, T fresh) {
    if (pattern.kind != Kind::Variable) throw DoesNotFit{};
    return bound.emplace(pattern.name, std::move(fresh)).first->second;
  }

  std::string bind_text(const Pattern& pattern, std::string fresh) {
    if (pattern.kind == Kind::String) return pattern.name;
    return bind(texts_, pattern, std::move(fresh));
  }

  const RuleInfo& rule_;
  const CustomOps& custom_ops_;
  Random& random_;
  Values values_;
  RuleInstance out_;
  InstanceLeaves leaves_;
  std::optional<RandomConvolution> convolution_;  // that a rule about convolutions matches
  const RulePattern* pattern_ = nullptr;          // while it runs
  std::map<std::string, NodeId> values_by_name_;
  std::map<std::string, IndexMap> maps_;
  std::map<std::string, Expr> extents_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Number> numbers_;
};

}  // namespace

bool reorders_sums(const RuleInfo& rule) {
  return rule.form.find("\" n (Mul") != std::string::npos || folds_weights(rule);
}

bool folds_weights(const RuleInfo& rule) {
  return rule.form.find("from-weights ") != std::string::npos ||
         rule.form.find("-by-weights ") != std::string::npos;
}

bool convolves(const RuleInfo& rule) {
  return rule.form.find("(winograd-data-view ") != std::string::npos;
}

std::optional<RuleInstance> make_instance(const RuleInfo& rule, const CustomOps& custom_ops,
                                          Random& random, Values values) {
  return Building(rule, custom_ops, random, values).run();
}

}  // namespace luminal::rule_testing

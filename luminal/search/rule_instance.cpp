#include "luminal/search/rule_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/graph/tensor.h"

namespace luminal::search {
namespace {

using Pattern = egraph::Expr;
using Kind = egraph::Expr::Kind;

struct DoesNotFit {};

// No luck will help.
struct Untestable {
  std::string why;
};

const std::map<std::string, Op, std::less<>>& elementwise_terms() {
  static const std::map<std::string, Op, std::less<>> terms = {
      {"Exp2", Op::Exp2},     {"Log2", Op::Log2},   {"Sin", Op::Sin},
      {"Recip", Op::Recip},   {"Sqrt", Op::Sqrt},   {"Add", Op::Add},
      {"Mul", Op::Mul},       {"Mod", Op::Mod},     {"IntDiv", Op::IntDiv},
      {"BitAnd", Op::BitAnd}, {"Equal", Op::Equal}, {"LessThan", Op::LessThan},
      {"Select", Op::Select},
  };
  return terms;
}

bool is_call_term(std::string_view name) {
  return name.size() == 5 && name.starts_with("Call") && name[4] >= '1' && name[4] <= '4';
}

bool is_term(const Pattern& pattern) {
  static const std::set<std::string, std::less<>> others = {
      "Const", "Iota", "Reindex", "Reduce", "Gather", "Cast", "Bitcast", "Load", "Store"};
  return pattern.kind == Kind::Call &&
         (elementwise_terms().contains(pattern.name) || others.contains(pattern.name) ||
          is_call_term(pattern.name));
}

class Building {
 public:
  Building(const RuleInfo& rule, const CustomOps& custom_ops, Random& random, Values values)
      : rule_(rule), custom_ops_(custom_ops), random_(random), values_(values) {}

  std::optional<RuleInstance> run() {
    out_.sizes = random_sizes(random_);
    try {
      read_facts();
      for (const Pattern* root : outermost()) build_root(*root);
      for (const std::string& variable : asked_) {
        if (!values_by_name_.contains(variable)) build_variable(variable, random_type());
      }
      fill_leaves();
    } catch (const Untestable& untestable) {
      why_ = untestable.why;
    } catch (const DoesNotFit&) {
      return std::nullopt;
    } catch (const UserError&) {  // an op that doesn't take these types
      return std::nullopt;
    }
    if (!why_.empty()) {
      throw UserError(fmt::format("{}: rule '{}' can't be tested automatically: {}", rule_.file,
                                  rule_.name, why_));
    }
    return std::move(out_);
  }

 private:
  // ---- What the facts say --------------------------------------------------------------------

  void read_facts() {
    for (const egraph::Fact& fact : rule_.syntax.facts) {
      const Pattern* variable = nullptr;
      for (const Pattern& side : fact.sides) {
        if (side.kind == Kind::Variable) variable = &side;
      }
      for (const Pattern& side : fact.sides) read_side(side, variable);
    }
  }

  void read_side(const Pattern& side, const Pattern* variable) {
    if (is_term(side)) {
      if (variable != nullptr && !definitions_.emplace(variable->name, &side).second) {
        throw Untestable{"it wants two terms to be equal before it starts"};
      }
      terms_.push_back({variable == nullptr ? "" : variable->name, &side});
      return;
    }
    const bool asks = side.kind == Kind::Call && side.args.size() == 1 &&
                      side.args[0].kind == Kind::Variable &&
                      (side.name == "constant" || side.name == "type-of");
    if (!asks) return;
    asked_.push_back(side.args[0].name);
    if (side.name == "constant") {
      constants_[side.args[0].name] = variable == nullptr ? "" : variable->name;
    }
  }

  static bool mentions(const Pattern& pattern, const std::string& variable) {
    if (pattern.kind == Kind::Variable) return pattern.name == variable;
    return std::any_of(pattern.args.begin(), pattern.args.end(),
                       [&](const Pattern& arg) { return mentions(arg, variable); });
  }

  // The terms that no other term is made of.
  std::vector<const Pattern*> outermost() const {
    std::vector<const Pattern*> roots;
    for (const auto& [variable, term] : terms_) {
      const bool inside =
          !variable.empty() && std::any_of(terms_.begin(), terms_.end(), [&](const auto& other) {
            return other.second != term && mentions(*other.second, variable);
          });
      if (!inside) roots.push_back(term);
    }
    if (roots.empty() && asked_.empty()) throw Untestable{"it matches no term of the language"};
    return roots;
  }

  // ---- Terms, from the outside in ------------------------------------------------------------

  void build_root(const Pattern& term) {
    if (term.name == "Store") {
      out_.stores.push_back(build(term.args.at(0), random_type()));
      return;
    }
    build(term, root_type(term));
  }

  Type random_type() { return {random_dims(random_), random_dtype(random_)}; }

  // One that the op may have at all, so that fewer tries are lost.
  Type root_type(const Pattern& term) {
    Type type = random_type();
    if (term.name == "Const") type.dims.clear();
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
    if (auto definition = definitions_.find(name); definition != definitions_.end()) {
      id = build(*definition->second, type);
    } else if (auto constant = constants_.find(name); constant != constants_.end()) {
      id = full(number(constant->second, type.dtype), type.dims);
    } else {
      id = leaf(type);
    }
    values_by_name_.emplace(name, id);
    return id;
  }

  NodeId build_term(const Pattern& term, const Type& type) {
    const auto op = elementwise_terms().find(term.name);
    if (op != elementwise_terms().end()) return build_elementwise(term, op->second, type);
    if (is_call_term(term.name)) return build_call(term, type);
    if (term.name == "Const") {
      if (!type.dims.empty()) throw DoesNotFit{};
      return full(number(variable_of(term.args.at(0)), type.dtype), {});
    }
    if (term.name == "Iota") {
      return add({.op = Op::Iota,
                  .dtype = type.dtype,
                  .dims = type.dims,
                  .inputs = {},
                  .attribute = IotaAttr{random_index(random_, type.dims)},
                  .label = {}});
    }
    if (term.name == "Reindex") return build_view(term, type);
    if (term.name == "Reduce") return build_reduction(term, type);
    if (term.name == "Gather") return build_gather(term, type);
    if (term.name == "Load") {
      if (term.args.at(0).kind != Kind::Variable) throw DoesNotFit{};
      return build_variable(term.args[0].name, type);
    }
    return build_conversion(term, type);
  }

  // Operands are made in any order: it is what orders those of a commutative op.
  NodeId build_elementwise(const Pattern& term, Op op, const Type& type) {
    const bool compares = op == Op::LessThan || op == Op::Equal;
    if (compares && type.dtype != DType::Bool) throw DoesNotFit{};
    const Type operand{type.dims, compares ? random_dtype(random_) : type.dtype};
    std::vector<Type> types(term.args.size(), operand);
    if (op == Op::Select) types[0].dtype = DType::Bool;
    std::vector<NodeId> inputs = build_all(term.args, types);
    return add({.op = op,
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

  NodeId build_view(const Pattern& term, const Type& type) {
    const IndexMap map = bind(maps_, term.args.at(0), random_map_into(random_, type.dims));
    if (!same_dims(map.dims(), type.dims)) throw DoesNotFit{};
    const NodeId operand = build(term.args.at(1), {map.source_dims(), type.dtype});
    return view(operand, map);
  }

  NodeId build_reduction(const Pattern& term, const Type& type) {
    const char* reducers[] = {"sum", "prod", "max"};
    const std::string reducer = bind_text(term.args.at(0), random_.pick(reducers));
    Type operand = type;
    operand.dims.push_back(bind(extents_, term.args.at(1), random_extent(random_)));
    const std::optional<Reducer> known = reducer_from_name(reducer);
    if (!known) throw DoesNotFit{};
    const NodeId input = build(term.args.at(2), operand);
    return add({.op = Op::Reduce,
                .dtype = type.dtype,
                .dims = type.dims,
                .inputs = {input},
                .attribute = ReduceAttr{*known},
                .label = {}});
  }

  // Dims of the index, then the rest of the data's: any place may be the border.
  NodeId build_gather(const Pattern& term, const Type& type) {
    const auto border =
        type.dims.begin() + static_cast<std::ptrdiff_t>(random_.below(type.dims.size() + 1));
    const auto rows = static_cast<int64_t>(1 + random_.below(4));
    Type data{{rows}, type.dtype};
    data.dims.insert(data.dims.end(), border, type.dims.end());
    const Type index{{type.dims.begin(), border}, random_.one_in(2) ? DType::I64 : DType::I32};
    const NodeId data_id = build(term.args.at(0), data);
    const Pattern& index_term = term.args.at(1);
    if (index_term.kind == Kind::Variable && !definitions_.contains(index_term.name)) {
      values_by_name_.emplace(index_term.name, input(index));
    }
    const NodeId index_id = build(index_term, index);
    rows_[index_id] = rows;
    return add({.op = Op::Gather,
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
    return add({.op = term.name == "Cast" ? Op::Cast : Op::Bitcast,
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

  // ---- Leaves --------------------------------------------------------------------------------

  // Mostly an input; at times a view of a larger one, a constant, or what is there already.
  NodeId leaf(const Type& type) {
    switch (random_.below(8)) {
      case 0: {
        const IndexMap map = random_map_into(random_, type.dims);
        return view(input({map.source_dims(), type.dtype}), map);
      }
      case 1:
        return full(random_number(random_, type.dtype, values_), type.dims);
      case 2:
        for (size_t id = 0; id < out_.graph->size(); ++id) {
          const Node& node = out_.graph->node(NodeId{static_cast<uint32_t>(id)});
          if (same_dims(node.dims, type.dims) && node.dtype == type.dtype) {
            return NodeId{static_cast<uint32_t>(id)};
          }
        }
        break;
      default:
        break;
    }
    return input(type);
  }

  NodeId input(const Type& type) {
    return out_.graph->input(fmt::format("x{}", inputs_++), type.dims, type.dtype).id();
  }

  NodeId full(const Number& number, const Dims& dims) {
    const NodeId id = add({.op = Op::Constant,
                           .dtype = number.dtype,
                           .dims = {},
                           .inputs = {},
                           .attribute = ConstantAttr{number.real, number.integer},
                           .label = {}});
    return dims.empty() ? id : view(id, IndexMap(dims, {}, {}));
  }

  NodeId view(NodeId operand, const IndexMap& map) {
    return add({.op = Op::View,
                .dtype = out_.graph->node(operand).dtype,
                .dims = map.dims(),
                .inputs = {operand},
                .attribute = map,
                .label = {}});
  }

  NodeId add(Node node) { return out_.graph->add(std::move(node)).id(); }

  // Guards ask for 0 and 1, which are not among the positive values.
  Number number(const std::string& variable, DType dtype) {
    const Values values = values_ == Values::Positive ? Values::Finite : values_;
    Number made = random_number(random_, dtype, values);
    if (!variable.empty()) made = numbers_.emplace(variable, made).first->second;
    if (made.dtype != dtype) throw DoesNotFit{};
    return made;
  }

  void fill_leaves() {
    for (NodeId id : out_.graph->leaves()) {
      const Node& node = out_.graph->node(id);
      std::vector<int64_t> dims;
      for (Expr dim : node.dims) dims.push_back(dim.evaluate(out_.sizes).value.value_or(0));
      TensorData data = random_data(random_, node.dtype, dims, values_);
      if (auto rows = rows_.find(id); rows != rows_.end()) data = indices(data, rows->second);
      out_.leaves.emplace(id, std::move(data));
    }
  }

  // Indices of rows must be in range.
  TensorData indices(const TensorData& like, int64_t rows) {
    std::vector<int64_t> at(static_cast<size_t>(like.n_elements()));
    for (int64_t& index : at) {
      index = static_cast<int64_t>(random_.below(static_cast<size_t>(rows)));
    }
    return TensorData::copy_of<int64_t>(at, like.dims).cast(like.dtype);
  }

  // ---- Variables -----------------------------------------------------------------------------

  static std::string variable_of(const Pattern& pattern) {
    return pattern.kind == Kind::Variable ? pattern.name : "";
  }

  // What stands for a variable already, or `fresh` from now on.
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
  std::vector<std::pair<std::string, const Pattern*>> terms_;  // with the variable each defines
  std::map<std::string, const Pattern*> definitions_;
  std::map<std::string, std::string> constants_;  // values that are constant → their number
  std::map<std::string, NodeId> values_by_name_;
  std::map<std::string, IndexMap> maps_;
  std::map<std::string, Expr> extents_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Number> numbers_;
  std::map<NodeId, int64_t> rows_;  // by index tensor: the rows it may name
  std::vector<std::string> asked_;  // values that facts are asked about
  std::string why_;
  int inputs_ = 0;
  RuleInstance out_;
};

}  // namespace

std::optional<RuleInstance> make_instance(const RuleInfo& rule, const CustomOps& custom_ops,
                                          Random& random, Values values) {
  return Building(rule, custom_ops, random, values).run();
}

}  // namespace luminal::search

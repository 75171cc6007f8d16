// Terms: the language of rules/terms.egg in C++: its constructors, host sorts and host primitives.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/egraph/egraph.h"
#include "luminal/graph/op.h"
#include "luminal/search/terms/rule_set.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal::search {

struct Type {
  Dims dims;
  DType dtype;
  friend bool operator==(const Type&, const Type&) = default;
};

// A constant of a dtype: `real` for floats, `integer` for the others.
struct Number {
  DType dtype;
  double real = 0;
  int64_t integer = 0;
};

// Whether an index expression is over these dims; a rule may have put it where it isn't.
bool is_over(Expr expr, const Dims& dims);

// Host values, interned in order of appearance: equal ones have equal ids, so that the engine sees
// equality as identity, and the same program gives the same ids.
class HostValues {
 public:
  egraph::Value of(const IndexMap& map);
  egraph::Value of(Expr expr);
  egraph::Value of(const Type& type);
  egraph::Value of(const Number& number);

  const IndexMap& map(egraph::Value value) const { return maps_[value.index()]; }
  Expr expr(egraph::Value value) const { return exprs_[value.index()]; }
  const Type& type(egraph::Value value) const { return types_[value.index()]; }
  const Number& number(egraph::Value value) const { return numbers_[value.index()]; }

 private:
  using Key = std::vector<uint64_t>;

  std::vector<IndexMap> maps_;
  std::vector<Expr> exprs_;
  std::vector<Type> types_;
  std::vector<Number> numbers_;
  std::map<Key, uint32_t> map_ids_, expr_ids_, type_ids_, number_ids_;
};

// The element-wise op behind a term's name, except for casts.
std::optional<Op> elementwise_op(std::string_view term);

// An e-graph of this language with its rules loaded: all, or the facts and one rule. Can't be
// copied or moved: primitives refer to the host values.
class Terms {
 public:
  explicit Terms(RuleSet rules = RuleSet(), const RuleInfo* only = nullptr);
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  RuleSet rules;
  egraph::EGraph egraph;
  HostValues host;

  // The constructors by what they make.
  egraph::FunctionId source, store, load, constant, iota, reindex, reduce, scan, gather, store_at,
      cast, bitcast;
  egraph::FunctionId type_of, constant_of, from_weights;  // the facts
  static constexpr size_t kMostCallInputs = 4;
  egraph::FunctionId call(size_t inputs) const;  // of a custom op
  egraph::FunctionId op(Op op) const;            // element-wise, without Cast and Bitcast

  std::optional<Op> op_of(egraph::FunctionId function) const;  // the op behind `op`, if any

  egraph::Value string(std::string_view text) { return egraph.constants().intern(text); }
};

}  // namespace luminal::search

#include "luminal/search/terms/terms.h"

#include <fmt/format.h>

#include <bit>
#include <set>
#include <utility>

#include "luminal/base/check.h"
#include "luminal/search/terms/term_primitives.h"

namespace luminal::search {
namespace {

using egraph::Value;

template <typename T>
Value intern(std::vector<T>& items, std::map<std::vector<uint64_t>, uint32_t>& ids,
             std::vector<uint64_t> key, const T& item) {
  auto [it, added] = ids.try_emplace(std::move(key), static_cast<uint32_t>(items.size()));
  if (added) items.push_back(item);
  return Value{it->second};
}

void append(std::vector<uint64_t>& key, const std::vector<Expr>& exprs) {
  key.push_back(exprs.size());
  for (Expr e : exprs) key.push_back(e.id());
}

std::string number_text(const Number& number) {
  return is_float(number.dtype) ? fmt::format("{}:{}", number.real, name(number.dtype))
                                : fmt::format("{}:{}", number.integer, name(number.dtype));
}

// Terms of element-wise ops bear the name of the op's enumerator. Cast and Bitcast aren't among
// them: their terms hold a dtype beside the operand.
struct ElementwiseTerm {
  std::string_view term;
  Op op;
};

const std::vector<ElementwiseTerm>& elementwise_terms() {
  static const std::vector<ElementwiseTerm> terms = [] {
    std::vector<ElementwiseTerm> known = {
#define OP(name, ...) {#name, Op::name},
#include "luminal/graph/ops.def"
#undef OP
    };
    std::erase_if(known, [](const ElementwiseTerm& term) {
      return !is_elementwise(term.op) || op_class(term.op) == OpClass::Convert;
    });
    return known;
  }();
  return terms;
}

}  // namespace

bool is_over(Expr expr, const Dims& dims) {
  std::set<uint32_t> seen;
  std::vector<Expr> stack = {expr};
  while (!stack.empty()) {
    const Expr part = stack.back();
    stack.pop_back();
    if (!seen.insert(part.id()).second) continue;
    if (part.kind() == ExprKind::Index) {
      const auto axis = static_cast<size_t>(part.axis());
      if (axis >= dims.size() || part.operands()[0] != dims[axis]) return false;
      continue;
    }
    stack.insert(stack.end(), part.operands().begin(), part.operands().end());
  }
  return true;
}

Value HostValues::of(const IndexMap& map) {
  std::vector<uint64_t> key;
  append(key, map.dims());
  append(key, map.source_dims());
  append(key, map.exprs());
  return intern(maps_, map_ids_, std::move(key), map);
}

Value HostValues::of(Expr expr) { return intern(exprs_, expr_ids_, {expr.id()}, expr); }

Value HostValues::of(const Type& type) {
  std::vector<uint64_t> key = {static_cast<uint64_t>(type.dtype)};
  append(key, type.dims);
  return intern(types_, type_ids_, std::move(key), type);
}

Value HostValues::of(const Number& number) {
  // The field that the dtype doesn't use is cleared, so that equal constants have equal ids.
  const bool real = is_float(number.dtype);
  const Number used{number.dtype, real ? number.real : 0, real ? 0 : number.integer};
  return intern(numbers_, number_ids_,
                {static_cast<uint64_t>(used.dtype), std::bit_cast<uint64_t>(used.real),
                 static_cast<uint64_t>(used.integer)},
                used);
}

Terms::Terms(RuleSet given, const RuleInfo* only) : rules(std::move(given)) {
  egraph.add_host_sort("Map", [this](Value v) { return host.map(v).text(); });
  egraph.add_host_sort("Index", [this](Value v) { return host.expr(v).text(); });
  egraph.add_host_sort("Type", [this](Value v) {
    return fmt::format("{}{}", name(host.type(v).dtype), text(host.type(v).dims));
  });
  egraph.add_host_sort("Number", [this](Value v) { return number_text(host.number(v)); });
  add_primitives(egraph, host);
  if (only != nullptr) {
    rules.load_alone(egraph, *only);
  } else {
    rules.load(egraph);
  }
  source = egraph.function("Source");
  store = egraph.function("Store");
  load = egraph.function("Load");
  constant = egraph.function("Const");
  iota = egraph.function("Iota");
  reindex = egraph.function("Reindex");
  reduce = egraph.function("Reduce");
  scan = egraph.function("Scan");
  gather = egraph.function("Gather");
  store_at = egraph.function("StoreAt");
  cast = egraph.function("Cast");
  bitcast = egraph.function("Bitcast");
  type_of = egraph.function("type-of");
  constant_of = egraph.function("constant");
  from_weights = egraph.function("from-weights");
}

egraph::FunctionId Terms::call(size_t inputs) const {
  return egraph.function(fmt::format("Call{}", inputs));
}

std::optional<Op> elementwise_op(std::string_view term) {
  for (const ElementwiseTerm& known : elementwise_terms()) {
    if (known.term == term) return known.op;
  }
  return std::nullopt;
}

egraph::FunctionId Terms::op(Op op) const {
  for (const ElementwiseTerm& known : elementwise_terms()) {
    if (known.op == op) return egraph.function(known.term);
  }
  LUMINAL_CHECK(false, std::string(name(op)) + " is not an element-wise term");
  __builtin_unreachable();
}

std::optional<Op> Terms::op_of(egraph::FunctionId function) const {
  for (const ElementwiseTerm& known : elementwise_terms()) {
    if (egraph.function(known.term) == function) return known.op;
  }
  return std::nullopt;
}

}  // namespace luminal::search

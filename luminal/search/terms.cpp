#include "luminal/search/terms.h"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <utility>

#include "luminal/base/check.h"
#include "luminal/rules/rules.h"

namespace luminal::search {
namespace {

using egraph::Constants;
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

// Equal layers ask the same questions about the same maps: each is answered once.
egraph::PrimitiveFunction remembering(egraph::PrimitiveFunction answer) {
  auto known = std::make_shared<std::map<std::vector<Value>, std::optional<Value>>>();
  return [known, answer = std::move(answer)](Constants& constants, std::span<const Value> in) {
    auto [entry, is_new] = known->try_emplace(std::vector(in.begin(), in.end()));
    if (is_new) entry->second = answer(constants, in);
    return entry->second;
  };
}

// Pure functions of host values; a result that isn't there means that a rule doesn't match.
void add_primitives(egraph::EGraph& egraph, HostValues& host) {
  const egraph::SortId map = egraph.sort("Map");
  const egraph::SortId index = egraph.sort("Index");
  const egraph::SortId type = egraph.sort("Type");
  const egraph::SortId boolean = egraph.schema().boolean();
  using Arguments = std::span<const Value>;
  const auto add = [&](const char* name, std::vector<egraph::SortId> inputs, egraph::SortId output,
                       egraph::PrimitiveFunction answer) {
    egraph.add_primitive(name, std::move(inputs), output, remembering(std::move(answer)));
  };
  add("compose", {map, map}, map, [&host](Constants&, Arguments in) {
    return std::optional(host.of(IndexMap::compose(host.map(in[0]), host.map(in[1]))));
  });
  add("is-identity", {map}, boolean, [&host](Constants&, Arguments in) -> std::optional<Value> {
    if (!host.map(in[0]).is_identity()) return std::nullopt;
    return Constants::boolean(true);
  });
  add("index-through", {map, index}, index, [&host](Constants&, Arguments in) {
    return std::optional(host.of(host.map(in[0]).apply(host.expr(in[1]))));
  });
  add("type-through", {map, type}, type, [&host](Constants&, Arguments in) {
    return std::optional(host.of(Type{host.map(in[0]).dims(), host.type(in[1]).dtype}));
  });
}

}  // namespace

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
  return intern(numbers_, number_ids_,
                {static_cast<uint64_t>(number.dtype), std::bit_cast<uint64_t>(number.real),
                 static_cast<uint64_t>(number.integer)},
                number);
}

Terms::Terms() {
  egraph.add_host_sort("Map", [this](Value v) { return host.map(v).text(); });
  egraph.add_host_sort("Index", [this](Value v) { return host.expr(v).text(); });
  egraph.add_host_sort("Type", [this](Value v) {
    return fmt::format("{}{}", name(host.type(v).dtype), text(host.type(v).dims));
  });
  egraph.add_host_sort("Number", [this](Value v) { return number_text(host.number(v)); });
  add_primitives(egraph, host);
  for (const rules::RuleFile& file : rules::rule_files()) egraph.run_program(file.text, file.name);
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
}

egraph::FunctionId Terms::op(Op op) const {
  switch (op) {
    case Op::Exp2:
      return egraph.function("Exp2");
    case Op::Log2:
      return egraph.function("Log2");
    case Op::Sin:
      return egraph.function("Sin");
    case Op::Recip:
      return egraph.function("Recip");
    case Op::Sqrt:
      return egraph.function("Sqrt");
    case Op::Add:
      return egraph.function("Add");
    case Op::Mul:
      return egraph.function("Mul");
    case Op::Mod:
      return egraph.function("Mod");
    case Op::IntDiv:
      return egraph.function("IntDiv");
    case Op::BitAnd:
      return egraph.function("BitAnd");
    case Op::LessThan:
      return egraph.function("LessThan");
    case Op::Equal:
      return egraph.function("Equal");
    case Op::Select:
      return egraph.function("Select");
    case Op::Input:
    case Op::Constant:
    case Op::Iota:
    case Op::Cast:
    case Op::Bitcast:
    case Op::View:
    case Op::Reduce:
    case Op::Scan:
    case Op::Gather:
    case Op::Scatter:
    case Op::Custom:
      break;
  }
  LUMINAL_CHECK(false, std::string(name(op)) + " is not an element-wise term");
  __builtin_unreachable();
}

}  // namespace luminal::search

#include "luminal/egraph/database.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/sexpr.h"
#include "luminal/egraph/actions.h"
#include "luminal/egraph/primitives.h"

#include <array>
#include <set>
#include <utility>

namespace luminal::egraph {
namespace {

using Row = std::array<uint32_t, Schema::kMaxInputs + 1>;

}  // namespace

Database::Database() { add_builtin_primitives(schema); }

FunctionId Database::add_function(Function function, Merge merge) {
  const size_t inputs = function.inputs.size();
  const FunctionId id = schema.add(std::move(function));
  tables_.emplace_back(inputs);
  merges_.push_back(std::move(merge));
  return id;
}

SortId Database::add_container_sort(const std::string& name, ContainerKind kind,
                                    std::vector<SortId> elements) {
  const SortId sort = schema.add(Sort{.name = name, .kind = SortKind::Container, .print = {}});
  PrimitiveAdder to(schema);
  switch (kind) {
    case ContainerKind::Vec:
      add_vec_primitives(to, sort, elements[0]);
      break;
    case ContainerKind::Set:
      add_set_primitives(to, sort, elements[0]);
      break;
    case ContainerKind::Map:
      add_map_primitives(to, sort, elements[0], elements[1]);
      break;
  }
  std::vector<bool> are_classes;
  for (SortId element : elements) are_classes.push_back(is_equality(element));
  constants.containers.add_sort(
      sort, {.kind = kind, .elements = std::move(elements), .are_classes = std::move(are_classes)});
  return sort;
}

Value Database::add(FunctionId function, std::span<const Value> arguments) {
  const Function& schema_row = schema.function(function);
  Table& table = tables_[function.index()];
  Row row;
  for (size_t i = 0; i < arguments.size(); ++i) {
    row[i] = canonical(arguments[i], schema_row.inputs[i]).value;
  }
  const uint32_t found = table.find({row.data(), arguments.size()});
  if (found != kNoRow) return canonical(Value{table.output(found)}, schema_row.output);

  Value value = Constants::unit();
  if (schema_row.kind == FunctionKind::Constructor) {
    value = Value{ids_.make()};
    id_infos_.push_back({.sort = schema_row.output, .displaced_by = kInitial});
    ++classes_;
  }
  row[arguments.size()] = value.value;
  append(function, {row.data(), arguments.size() + 1}, cause);
  ++counts.added;
  return value;
}

std::optional<Value> Database::lookup(FunctionId function, std::span<const Value> arguments) const {
  const Function& schema_row = schema.function(function);
  const Table& table = tables_[function.index()];
  Row row;
  for (size_t i = 0; i < arguments.size(); ++i) {
    row[i] = canonical(arguments[i], schema_row.inputs[i]).value;
  }
  const uint32_t found = table.find({row.data(), arguments.size()});
  if (found == kNoRow) return std::nullopt;
  return canonical(Value{table.output(found)}, schema_row.output);
}

void Database::set(FunctionId function, std::span<const Value> arguments, Value value) {
  const Function& schema_row = schema.function(function);
  const Table& table = tables_[function.index()];
  Row row;
  for (size_t i = 0; i < arguments.size(); ++i) {
    row[i] = canonical(arguments[i], schema_row.inputs[i]).value;
  }
  const uint32_t found = table.find({row.data(), arguments.size()});
  if (found != kNoRow) return merge_into(function, found, value, false);
  row[arguments.size()] = canonical(value, schema_row.output).value;
  append(function, {row.data(), arguments.size() + 1}, cause);
  ++counts.added;
}

void Database::unite(Value a, Value b, bool congruence) {
  const uint32_t root_a = ids_.find(a.value), root_b = ids_.find(b.value);
  if (root_a == root_b) return;
  const uint32_t kept = ids_.unite(root_a, root_b);
  id_infos_[kept == root_a ? root_b : root_a].displaced_by = cause;
  unions_.push_back({.a = a, .b = b, .rule = cause, .congruence = congruence});
  ++counts.unions;
  --classes_;
}

void Database::remove(FunctionId function, std::span<const Value> arguments) {
  const Function& schema_row = schema.function(function);
  Table& table = tables_[function.index()];
  Row row;
  for (size_t i = 0; i < arguments.size(); ++i) {
    row[i] = canonical(arguments[i], schema_row.inputs[i]).value;
  }
  const uint32_t found = table.find({row.data(), arguments.size()});
  if (found == kNoRow) return;
  table.kill(found);
  --tuples_;
  ++counts.removed;
}

void Database::subsume(FunctionId function, std::span<const Value> arguments) {
  if (schema.function(function).kind != FunctionKind::Function) add(function, arguments);
}

void Database::canonicalize_row(FunctionId function, uint32_t row_number) {
  const Function& schema_row = schema.function(function);
  Table& table = tables_[function.index()];
  const size_t width = table.width();
  Row row;
  bool stale = false;
  for (size_t i = 0; i < width; ++i) {
    const uint32_t old = table.row(row_number)[i];
    const SortId sort = i + 1 < width ? schema_row.inputs[i] : schema_row.output;
    row[i] = canonical(Value{old}, sort).value;
    if (row[i] == old || stale) continue;
    stale = true;
    cause = displaced_by(Value{old}, sort);  // what follows happens on account of that union
  }
  if (!stale) return;
  const RuleId origin = table.origin(row_number);
  table.kill(row_number);
  --tuples_;
  const uint32_t found = table.find({row.data(), width - 1});
  if (found == kNoRow) {
    append(function, {row.data(), width}, origin);
  } else {
    merge_into(function, found, Value{row[width - 1]}, true);
  }
}

void Database::append(FunctionId function, std::span<const uint32_t> row, RuleId origin) {
  tables_[function.index()].append(row, clock, origin);
  ++tuples_;
  last_time_ = clock;
}

void Database::merge_into(FunctionId function, uint32_t row_number, Value value, bool congruence) {
  const SortId output = schema.function(function).output;
  const Value old_value = canonical(Value{table(function).output(row_number)}, output);
  const Value new_value = canonical(value, output);
  if (old_value == new_value) return;
  if (merges_[function.index()].kind == Merge::Kind::Unite) {
    return unite(old_value, new_value, congruence);
  }
  const Value result = canonical(merged(function, row_number, old_value, new_value), output);
  if (result == canonical(old_value, output)) return;

  // The merge may have added nodes, but touched no row of a function: the row still stands.
  Table& table = tables_[function.index()];
  Row row;
  std::copy_n(table.row(row_number), table.inputs(), row.begin());
  row[table.inputs()] = result.value;
  table.kill(row_number);
  --tuples_;
  append(function, {row.data(), table.width()}, cause);
  ++counts.updated;
}

Value Database::merged(FunctionId function, uint32_t row, Value old_value, Value new_value) {
  const Merge& merge = merges_[function.index()];
  switch (merge.kind) {
    case Merge::Kind::Unite:
      break;
    case Merge::Kind::MustAgree:
      fail_conflict(function, row, old_value, new_value);
    case Merge::Kind::Run: {
      std::vector<Value> registers(merge.program.registers);
      registers[0] = old_value;
      registers[1] = new_value;
      execute(*this, merge.program, registers);
      return registers[merge.result];
    }
  }
  LUMINAL_CHECK(false, "a union has no merge to run");
}

void Database::fail_conflict(FunctionId function, uint32_t row_number, Value old_value,
                             Value new_value) const {
  const Function& schema_row = schema.function(function);
  std::string call = "(" + schema_row.name;
  std::set<std::string> others;  // rules whose unions made the arguments what they are
  for (size_t i = 0; i < schema_row.inputs.size(); ++i) {
    const Value argument{table(function).row(row_number)[i]};
    call += " " + print(argument, schema_row.inputs[i]);
    if (!is_equality(schema_row.inputs[i])) continue;
    for (const UnionRecord& record : unions_) {
      if (record.rule == cause || ids_.find(record.a.value) != ids_.find(argument.value)) continue;
      others.insert("'" + rule_names[record.rule.index()] + "'");
    }
  }
  std::string after;
  for (const std::string& other : others)
    after += (after.empty() ? " after unions by " : ", ") + other;
  const std::string message =
      call + ") would have two values: " + print(old_value, schema_row.output) + " and " +
      print(new_value, schema_row.output) + "; caused by rule '" + rule_names[cause.index()] + "'" +
      after + "; make its two sides agree, or give '" + schema_row.name + "' a :merge";
  // A host's facts about its own terms: that its rules keep them is the host's promise.
  if (schema.sort(schema_row.output).kind == SortKind::Host) throw InternalError(message);
  throw UserError(message);
}

std::string Database::print_container(Value value, SortId sort) const {
  std::vector<std::string> items;
  for (const Value item : constants.containers.items(sort, value)) {
    items.push_back(print(item, constants.containers.item_sort(sort, items.size())));
  }
  return container_text(constants.containers.shape(sort).kind, items);
}

std::string Database::print(Value value, SortId sort) const {
  const Sort& schema_row = schema.sort(sort);
  switch (schema_row.kind) {
    case SortKind::Unit:
      return "()";
    case SortKind::Bool:
      return Constants::is_true(value) ? "true" : "false";
    case SortKind::I64:
      return std::to_string(constants.i64(value));
    case SortKind::F64:
      return print_f64(constants.f64(value));
    case SortKind::String:
      return base::print(base::make_string(constants.string(value)));
    case SortKind::Host:
      return schema_row.print ? schema_row.print(value)
                              : schema_row.name + "-" + std::to_string(value.value);
    case SortKind::BigInt:
      return "(from-string \"" + constants.bigint(value).to_string() + "\")";
    case SortKind::Container:
      return print_container(value, sort);
    case SortKind::Equality:
      return "#" + std::to_string(value.value);
  }
  LUMINAL_CHECK(false, "unknown kind of sort");
}

}  // namespace luminal::egraph

#include "luminal/egraph/database/database.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/sexpr.h"
#include "luminal/egraph/database/actions.h"
#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>
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
  LUMINAL_CHECK(schema.sorts().size() <= kMaxSorts, "too many sorts");
  const FunctionId id = schema.add(std::move(function));
  Columns columns;
  for (size_t i = 0; i <= inputs; ++i) {
    const SortId sort = sort_of_column(id, i);
    if (is_equality(sort)) columns.ids |= uint64_t{1} << i;
    if (constants.containers.holds_ids(sort)) columns.containers |= uint64_t{1} << i;
  }
  tables_.emplace_back(inputs);
  merges_.push_back(std::move(merge));
  columns_.push_back(columns);
  return id;
}

uint32_t Database::find_row(FunctionId function, std::span<const Value> arguments,
                            uint32_t* key) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    key[i] = canonical(function, i, arguments[i].value);
  }
  return tables_[function.index()].find(key);
}

Value Database::make_id(SortId sort) {
  const Value id{ids_.make()};
  id_sorts_.push_back(static_cast<uint16_t>(sort.value));
  displaced_by_.push_back(kInitial);
  ++classes_;
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
  Row row;
  const uint32_t found = find_row(function, arguments, row.data());
  if (found != kNoRow) {
    if (proofs) proofs->last_row = found;
    return canonical(Value{table(function).output(found)}, schema_row.output);
  }
  const bool is_node = schema_row.kind == FunctionKind::Constructor;
  const Value value = is_node ? make_id(schema_row.output) : Constants::unit();
  row[arguments.size()] = value.value;
  const uint32_t added = append(function, row.data(), cause.value);
  if (proofs) log_row(function, added, arguments, value);
  ++counts.added;
  return value;
}

void Database::log_row(FunctionId function, uint32_t row, std::span<const Value> arguments,
                       Value value) {
  table(function).set_fact(row, proofs->add_fact(*this, function, arguments, value));
  proofs->last_row = row;
}

void Database::add(FunctionId function, std::span<const uint32_t> inputs, uint32_t target,
                   RegisterBatch batch) {
  const Function& schema_row = schema.function(function);
  const bool is_node = schema_row.kind == FunctionKind::Constructor;
  const size_t width = inputs.size() + 1;
  Table& table = tables_[function.index()];
  keys_.resize(RegisterBatch::kMost * (Schema::kMaxInputs + 1));
  std::array<uint32_t, RegisterBatch::kMost> hashes;
  for (size_t i = 0; i < batch.count; ++i) {
    const Value* registers = batch.values + i * batch.stride;
    uint32_t* key = keys_.data() + i * width;
    for (size_t c = 0; c < inputs.size(); ++c) {
      key[c] = canonical(function, c, registers[inputs[c]].value);
    }
    hashes[i] = table.hash_of(key);
    table.prefetch_slot(hashes[i]);
  }
  for (size_t i = 0; i < batch.count; ++i) table.prefetch_row(hashes[i]);
  for (size_t i = 0; i < batch.count; ++i) {
    uint32_t* key = keys_.data() + i * width;
    Value& result = batch.values[i * batch.stride + target];
    const uint32_t found = table.find(key, hashes[i]);
    if (found != kNoRow) {
      result = is_node ? Value{ids_.find(table.output(found))} : Constants::unit();
      if (batch.proof != nullptr) batch.proof->note_row(i * batch.stride + target, found);
      continue;
    }
    result = is_node ? make_id(schema_row.output) : Constants::unit();
    key[inputs.size()] = result.value;
    const uint32_t added = table.append(key, hashes[i], clock, cause.value);
    if (batch.proof != nullptr) log_batch_row(function, added, target, i, batch);
    ++tuples_;
    ++counts.added;
    last_time_ = clock;
  }
}

void Database::log_batch_row(FunctionId function, uint32_t row, uint32_t target, size_t match,
                             RegisterBatch batch) {
  const Value* registers = batch.values + match * batch.stride;
  batch.proof->enter(match, batch.stride, batch.values);
  log_row(function, row, {registers, table(function).inputs()}, registers[target]);
  batch.proof->note_row(match * batch.stride + target, row);
}

uint32_t Database::row_of(FunctionId function, std::span<const Value> arguments) const {
  Row row;
  return find_row(function, arguments, row.data());
}

std::optional<Value> Database::lookup(FunctionId function, std::span<const Value> arguments) const {
  Row row;
  const uint32_t found = find_row(function, arguments, row.data());
  if (found == kNoRow) return std::nullopt;
  return canonical(Value{table(function).output(found)}, schema.function(function).output);
}

void Database::set(FunctionId function, std::span<const Value> arguments, Value value) {
  Row row;
  const uint32_t found = find_row(function, arguments, row.data());
  if (found != kNoRow) {
    return merge_into(function, found, {.arguments = arguments, .value = value});
  }
  row[arguments.size()] = canonical(value, schema.function(function).output).value;
  const uint32_t added = append(function, row.data(), cause.value);
  if (proofs) log_row(function, added, arguments, value);
  ++counts.added;
}

void Database::unite(Value a, Value b) {
  if (proofs && ids_.find(a.value) != ids_.find(b.value)) proofs->add_union(*this, a, b);
  join_classes(a, b);
}

void Database::join_classes(Value a, Value b) {
  const uint32_t root_a = ids_.find(a.value), root_b = ids_.find(b.value);
  if (root_a == root_b) return;
  const uint32_t kept = ids_.unite(root_a, root_b);
  displaced_by_[kept == root_a ? root_b : root_a] = cause;
  ++counts.unions;
  --classes_;
}

void Database::remove(FunctionId function, std::span<const Value> arguments) {
  Row row;
  const uint32_t found = find_row(function, arguments, row.data());
  if (found == kNoRow) return;
  kill(function, found);
  ++counts.removed;
}

void Database::subsume(FunctionId function, std::span<const Value> arguments) {
  Row row;
  uint32_t found = find_row(function, arguments, row.data());
  if (found == kNoRow) {
    if (schema.function(function).kind == FunctionKind::Function) return;
    add(function, arguments);
    found = find_row(function, arguments, row.data());
  }
  Table& table = tables_[function.index()];
  if (table.subsumed(found)) return;
  table.subsume(found);
  ++counts.subsumed;
}

void Database::canonicalize_row(FunctionId function, uint32_t row_number) {
  Table& table = tables_[function.index()];
  const size_t width = table.width();
  Row row;
  bool stale = false;
  for (size_t i = 0; i < width; ++i) {
    const uint32_t old = table.row(row_number)[i];
    row[i] = canonical(function, i, old);
    if (row[i] == old || stale) continue;
    stale = true;
    // What follows is attributed to the rule of that union.
    cause = displaced_by(Value{old}, sort_of_column(function, i));
  }
  if (!stale) return;
  const uint32_t mark = table.mark(row_number);
  const uint32_t found = table.find(row.data());
  const bool alone = found == kNoRow || found == row_number;
  if (alone && table.can_rewrite(row_number, clock)) return table.rewrite(row_number, row.data());
  const uint32_t fact = proofs ? table.fact(row_number) : kNoFact;
  kill(function, row_number);
  if (alone) {
    const uint32_t added = append(function, row.data(), mark);
    if (proofs) table.set_fact(added, fact);
    return;
  }
  if ((mark & kSubsumedBit) != 0) table.subsume(found);
  merge_into(function, found, {.value = Value{row[width - 1]}, .fact = fact});
}

void Database::prefetch_row(FunctionId function, uint32_t row_number) const {
  const Table& table = tables_[function.index()];
  Row key;
  const uint32_t* row = table.row(row_number);
  table.prefetch_slot(table.hash_of(row));
  for (size_t i = 0; i < table.inputs(); ++i) {
    key[i] = canonical(function, i, row[i]);
  }
  table.prefetch_slot(table.hash_of(key.data()));
}

uint32_t Database::append(FunctionId function, const uint32_t* row, uint32_t mark) {
  ++tuples_;
  last_time_ = clock;
  return tables_[function.index()].append(row, clock, mark);
}

void Database::kill(FunctionId function, uint32_t row) {
  tables_[function.index()].kill(row);
  --tuples_;
}

void Database::merge_into(FunctionId function, uint32_t row_number, const Incoming& incoming) {
  const SortId output = schema.function(function).output;
  const Value old_value = canonical(Value{table(function).output(row_number)}, output);
  const Value new_value = canonical(incoming.value, output);
  if (old_value == new_value) return;
  if (merges_[function.index()].kind == Merge::Kind::Unite) {
    if (proofs) proofs->add_congruence(*this, table(function).fact(row_number), incoming.fact);
    return join_classes(old_value, new_value);
  }
  ProofOrigin origin{.rule = ProofOrigin::kMerge};
  if (proofs) {
    origin.merged = {table(function).fact(row_number), incoming.fact};
    if (incoming.fact == kNoFact) {
      origin.merged[1] = proofs->add_fact(*this, function, incoming.arguments, incoming.value);
    }
  }
  const Value result =
      canonical(merged(function, row_number, old_value, new_value, &origin), output);
  if (result == canonical(old_value, output)) return;

  // The merge may have added nodes, but changed no row of a function: `row_number` is still valid.
  Table& table = tables_[function.index()];
  Row row;
  std::copy_n(table.row(row_number), table.inputs(), row.begin());
  row[table.inputs()] = result.value;
  const uint32_t subsumed = table.mark(row_number) & kSubsumedBit;
  kill(function, row_number);
  const uint32_t added = append(function, row.data(), cause.value | subsumed);
  if (proofs) table.set_fact(added, proofs->add_merged(*this, origin));
  ++counts.updated;
}

size_t Database::bytes() const {
  size_t sum = ids_.bytes() + id_sorts_.bytes() + displaced_by_.bytes();
  for (const Table& table : tables_) sum += table.bytes();
  if (proofs) sum += proofs->bytes();
  return sum;
}

Value Database::merged(FunctionId function, uint32_t row, Value old_value, Value new_value,
                       ProofOrigin* origin) {
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
      origin->result_register = merge.result;
      execute(*this, merge.program, registers, origin);
      return registers[merge.result];
    }
  }
  LUMINAL_CHECK(false, "a union has no merge to run");
}

void Database::fail_conflict(FunctionId function, uint32_t row_number, Value old_value,
                             Value new_value) const {
  const Function& schema_row = schema.function(function);
  std::string call = "(" + schema_row.name;
  std::set<std::string> others;  // rules whose unions made up the arguments' classes
  for (size_t i = 0; i < schema_row.inputs.size(); ++i) {
    const Value argument{table(function).row(row_number)[i]};
    call += " " + print(argument, schema_row.inputs[i]);
    if (!is_equality(schema_row.inputs[i])) continue;
    const uint32_t root = ids_.find(argument.value);
    for (uint32_t id = root + 1; id < ids_.size(); ++id) {
      const RuleId rule = displaced_by_[id];
      if (rule == cause || ids_.is_root(id) || ids_.find(id) != root) continue;
      others.insert("'" + rule_names[rule.index()] + "'");
    }
  }
  std::string after;
  for (const std::string& other : others)
    after += (after.empty() ? " after unions by " : ", ") + other;
  const std::string message =
      call + ") would have two values: " + print(old_value, schema_row.output) + " and " +
      print(new_value, schema_row.output) + "; caused by rule '" + rule_names[cause.index()] + "'" +
      after + "; make its two sides agree, or give '" + schema_row.name + "' a :merge";
  // These are the host's facts about its own terms: a conflict is a bug of the host.
  if (schema.sort(schema_row.output).kind == SortKind::Host) throw InternalError(message);
  throw UserError(message);
}

std::string Database::print_container(Value value, SortId sort) const {
  // Containers share their contents: written out, a small one can be exponentially long.
  constexpr size_t kMostText = 100'000;
  std::vector<std::string> items;
  size_t size = 0;
  for (const Value item : constants.containers.items(sort, value)) {
    if (size > kMostText) {
      items.push_back("…");
      break;
    }
    items.push_back(print(item, constants.containers.item_sort(sort, items.size())));
    size += items.back().size();
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

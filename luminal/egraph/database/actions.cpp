#include "luminal/egraph/database/actions.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace luminal::egraph {
namespace {

std::string cause_of(const Database& database) {
  if (database.cause == kInitial) return "";
  return " (rule '" + database.rule_names[database.cause.index()] + "')";
}

std::string print_call(const Database& database, const std::string& name,
                       std::span<const SortId> sorts, std::span<const Value> arguments) {
  std::string text = "(" + name;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = i < sorts.size() ? database.print(arguments[i], sorts[i]) : "_";
    constexpr size_t kMostShown = 200;
    if (argument.size() > kMostShown) argument = argument.substr(0, kMostShown) + "…";
    text += " " + argument;
  }
  return text + ")";
}

Value run_primitive(Database& database, PrimitiveId id, std::span<const Value> arguments) {
  const Primitive& primitive = database.schema.primitive(id);
  const std::optional<Value> result = primitive.run(database.constants, arguments);
  if (result) return *result;
  throw UserError(print_call(database, primitive.name, primitive.inputs, arguments) +
                  " has no result" + cause_of(database) +
                  "; compute it in the query, where no result means no match");
}

Value run_lookup(Database& database, FunctionId id, std::span<const Value> arguments) {
  const std::optional<Value> value = database.lookup(id, arguments);
  if (value) return *value;
  const Function& function = database.schema.function(id);
  throw UserError(print_call(database, function.name, function.inputs, arguments) +
                  " has no value; set it first");
}

// Runs one instruction for one match.
void execute_one(Database& database, const Program& program, const Instruction& instruction,
                 Value* registers, ProofFrameScope* proof) {
  std::array<Value, Schema::kMaxInputs + 1> buffer;
  for (size_t i = 0; i < instruction.inputs.size(); ++i) {
    buffer[i] = registers[instruction.inputs[i]];
  }
  const std::span<const Value> inputs(buffer.data(), instruction.inputs.size());
  switch (instruction.op) {
    case Instruction::Op::Constant:
      registers[instruction.target] = instruction.constant;
      break;
    case Instruction::Op::Global:
      registers[instruction.target] = database.globals[instruction.id].value;
      break;
    case Instruction::Op::Primitive:
      registers[instruction.target] = run_primitive(database, PrimitiveId{instruction.id}, inputs);
      break;
    case Instruction::Op::Add:
      registers[instruction.target] = database.add(FunctionId{instruction.id}, inputs);
      if (proof != nullptr) proof->note_row(instruction.target, database.proofs->last_row);
      break;
    case Instruction::Op::Lookup:
      registers[instruction.target] = run_lookup(database, FunctionId{instruction.id}, inputs);
      if (proof != nullptr) {
        proof->note_row(instruction.target, database.row_of(FunctionId{instruction.id}, inputs));
      }
      break;
    case Instruction::Op::Set:
      database.set(FunctionId{instruction.id}, inputs.first(inputs.size() - 1), inputs.back());
      break;
    case Instruction::Op::Union:
      database.unite(inputs[0], inputs[1]);
      break;
    case Instruction::Op::Delete:
      database.remove(FunctionId{instruction.id}, inputs);
      break;
    case Instruction::Op::Subsume:
      database.subsume(FunctionId{instruction.id}, inputs);
      break;
    case Instruction::Op::Panic:
      throw UserError("panic: " + program.messages[instruction.id] + cause_of(database));
  }
}

// Runs one instruction for all matches of a batch.
void execute_step(Database& database, const Program& program, const Instruction& instruction,
                  RegisterBatch batch) {
  if (batch.proof != nullptr) batch.proof->step(instruction);
  if (instruction.op == Instruction::Op::Add) {
    return database.add(FunctionId{instruction.id}, instruction.inputs, instruction.target, batch);
  }
  for (size_t i = 0; i < batch.count; ++i) {
    if (batch.proof != nullptr) batch.proof->enter(i, batch.stride, batch.values);
    execute_one(database, program, instruction, batch.values + i * batch.stride, batch.proof);
  }
}

}  // namespace

bool Program::only_adds() const {
  return std::all_of(code.begin(), code.end(), [](const Instruction& instruction) {
    switch (instruction.op) {
      case Instruction::Op::Constant:
      case Instruction::Op::Global:
      case Instruction::Op::Primitive:
      case Instruction::Op::Add:
      case Instruction::Op::Union:
        return true;
      case Instruction::Op::Lookup:
      case Instruction::Op::Set:
      case Instruction::Op::Delete:
      case Instruction::Op::Subsume:
      case Instruction::Op::Panic:
        return false;
    }
    return false;
  });
}

void execute_batch(Database& database, const Program& program, RegisterBatch batch) {
  if (program.only_adds()) {
    std::optional<ProofFrameScope> proof;
    if (database.proofs) {
      proof.emplace(database.proofs, program, batch.values, batch.stride * batch.count, nullptr);
      batch.proof = &*proof;
    }
    for (const Instruction& instruction : program.code)
      execute_step(database, program, instruction, batch);
    return;
  }
  for (size_t i = 0; i < batch.count; ++i) {
    execute(database, program, {batch.values + i * batch.stride, program.registers},
            database.proofs ? &database.proofs->match(i) : nullptr);
  }
}

void execute(Database& database, const Program& program, std::span<Value> registers,
             ProofOrigin* origin) {
  std::optional<ProofFrameScope> proof;
  if (database.proofs) {
    proof.emplace(database.proofs, program, registers.data(), registers.size(), origin);
  }
  for (const Instruction& instruction : program.code) {
    if (proof) proof->step(instruction);
    execute_one(database, program, instruction, registers.data(), proof ? &*proof : nullptr);
  }
  if (proof && origin != nullptr && origin->rule == ProofOrigin::kMerge) {
    database.proofs->finish_merge(database);
  }
}

}  // namespace luminal::egraph

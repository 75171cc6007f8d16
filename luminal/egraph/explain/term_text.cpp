#include "luminal/egraph/explain/term_text.h"

#include "luminal/base/check.h"
#include "luminal/egraph/language/parser.h"

#include <vector>

namespace luminal::egraph {

TermText::TermText(const Database& database) : database_(database), extractor_(database) {}

std::string TermText::print(Value value, SortId sort) const {
  if (!sort.valid()) return "_";
  constexpr uint64_t kMostCost = 40;
  const uint64_t cost = extractor_.cost(value, sort);
  if (cost <= kMostCost) return extractor_.term(value, sort);
  const std::string plain = database_.print(value, sort);
  if (cost == Extraction::kNoTerm || !database_.is_equality(sort)) return plain;
  return "(" + extractor_.head(value) + " …)" + plain;
}

std::string TermText::print_call(const std::string& name, std::span<const SortId> sorts,
                                 std::span<const Value> arguments) const {
  std::string text = "(" + name;
  for (size_t i = 0; i < arguments.size(); ++i) {
    text += " " + print(arguments[i], i < sorts.size() ? sorts[i] : SortId{});
  }
  return text + ")";
}

std::string TermText::print_row(FunctionId id, uint32_t row) const {
  const Function& function = database_.schema.function(id);
  const Table& table = database_.table(id);
  std::vector<Value> arguments;
  for (size_t i = 0; i < table.inputs(); ++i) arguments.push_back(Value{table.row(row)[i]});
  std::string text = print_call(function.name, function.inputs, arguments);
  if (function.kind != FunctionKind::Function) return text;
  return text + " = " + print(Value{table.output(row)}, function.output);
}

TermLookup look_up_term(Engine& engine, std::string_view text, std::string_view source) {
  Database& database = engine.database;
  const CompiledExpr compiled = compile_expr(engine.scope(source), parse_expr(text, source));
  std::vector<Value> registers(compiled.program.registers);
  for (const Instruction& instruction : compiled.program.code) {
    std::vector<Value> inputs;
    for (uint32_t reg : instruction.inputs) inputs.push_back(registers[reg]);
    std::optional<Value> result;
    std::string name;
    std::vector<SortId> sorts;
    if (instruction.op == Instruction::Op::Constant) {
      result = instruction.constant;
    } else if (instruction.op == Instruction::Op::Global) {
      result = database.globals[instruction.id].value;
    } else if (instruction.op == Instruction::Op::Primitive) {
      const Primitive& primitive = database.schema.primitive(PrimitiveId{instruction.id});
      result = primitive.run(database.constants, inputs);
      name = primitive.name;
      sorts = primitive.inputs;
    } else {
      LUMINAL_CHECK(
          instruction.op == Instruction::Op::Add || instruction.op == Instruction::Op::Lookup,
          "an expression compiled to more than look-ups");
      const Function& function = database.schema.function(FunctionId{instruction.id});
      result = database.lookup(FunctionId{instruction.id}, inputs);
      name = function.name;
      sorts = function.inputs;
    }
    if (!result) {
      return {.value = std::nullopt,
              .sort = compiled.sort,
              .missing = TermText(database).print_call(name, sorts, inputs)};
    }
    registers[instruction.target] = *result;
  }
  return {.value = database.canonical(registers[compiled.result], compiled.sort),
          .sort = compiled.sort,
          .missing = {}};
}

}  // namespace luminal::egraph

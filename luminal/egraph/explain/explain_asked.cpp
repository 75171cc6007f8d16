// Terms exactly as the question writes them, where the e-graph only has equal ones.
#include "luminal/egraph/explain/explainer.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

Value Explainer::asked(const CompiledExpr& compiled) {
  std::vector<Value> actual(compiled.program.registers), exact(compiled.program.registers);
  for (const Instruction& instruction : compiled.program.code) {
    std::vector<Value> inputs, exact_inputs;
    for (const uint32_t reg : instruction.inputs) {
      inputs.push_back(actual[reg]);
      exact_inputs.push_back(exact[reg]);
    }
    Value& to = actual[instruction.target];
    Value& exact_to = exact[instruction.target];
    switch (instruction.op) {
      case Instruction::Op::Constant:
        to = exact_to = instruction.constant;
        break;
      case Instruction::Op::Global:
        to = database_.globals[instruction.id].value;
        exact_to = log_.global(instruction.id);
        break;
      case Instruction::Op::Primitive:
        to = exact_to = *database_.schema.primitive(PrimitiveId{instruction.id})
                             .run(database_.constants, inputs);
        break;
      default: {
        const FunctionId function{instruction.id};
        const uint32_t fact = database_.table(function).fact(database_.row_of(function, inputs));
        to = *database_.lookup(function, inputs);
        exact_to = instruction.op == Instruction::Op::Lookup
                       ? looked_up(fact)
                       : asked_term(function, fact, std::move(exact_inputs));
      }
    }
  }
  return exact[compiled.result];
}

Value Explainer::looked_up(uint32_t fact) {
  need_fact(fact);
  return value(fact);
}

Value Explainer::asked_term(FunctionId function, uint32_t fact, std::vector<Value> exact) {
  const std::span<const Value> made = arguments(fact);
  if (std::equal(made.begin(), made.end(), exact.begin(), exact.end())) return value(fact);
  const Function& declared = database_.schema.function(function);
  const uint32_t all = static_cast<uint32_t>(log_.unions().size());
  for (size_t i = 0; i < exact.size(); ++i) {
    need_equal(known(exact[i], declared.inputs[i]), made[i], declared.inputs[i], all);
  }
  need_term(value(fact));
  const Value id{next_term_++};
  asked_.push_back({.fact = fact, .term = {id, function, std::move(exact)}});
  return id;
}

Value Explainer::known(Value id) const {
  const size_t ids = database_.ids().size();
  return id.index() < ids ? id : value(asked_[id.index() - ids].fact);
}

}  // namespace luminal::egraph

// Which action of a rule or a merge had an effect, and where its values came from.
#include "luminal/egraph/explain/explainer.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/egraph/proof/proof_checker.h"

#include <algorithm>
#include <optional>

namespace luminal::egraph {

void Explainer::explain_effect(const Application& application, uint32_t fact, uint32_t before,
                               ProofStep& step) {
  const Program& program = *application.program;
  for (const Instruction& instruction : program.code) {
    const auto made = application.register_facts.find(instruction.target);
    const bool is_term = instruction.op == Instruction::Op::Add &&
                         made != application.register_facts.end() && made->second == fact;
    const bool is_change =
        instruction.op == Instruction::Op::Set || instruction.op == Instruction::Op::Subsume;
    if (!is_term && !(is_change && same_inputs(application, instruction, fact, before))) continue;
    for (size_t i = 0; i < instruction.inputs.size(); ++i) {
      need_value(application, instruction.inputs[i], log_.values(fact, i + 1)[i],
                 column_sort(function_of(fact), i), before, step);
    }
    return;
  }
  if (step.cause != ProofStep::Cause::Merge) refuse_primitives(application, step);
  LUMINAL_CHECK(step.cause == ProofStep::Cause::Merge, "no action of the rule made this fact");
  const FunctionId function{log_.fact(fact).function};
  need_value(application, database_.merge(function).result, value(fact), function_of(fact).output,
             before, step);
}

bool Explainer::same_inputs(const Application& application, const Instruction& instruction,
                            uint32_t fact, uint32_t before) const {
  if (log_.fact(fact).function != instruction.id) return false;
  const std::span<const Value> values = log_.values(fact, instruction.inputs.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!may_be(application, instruction.inputs[i], values[i], column_sort(function_of(fact), i),
                before)) {
      return false;
    }
  }
  return true;
}

void Explainer::refuse(const std::string& rule, const Primitive& primitive) const {
  throw UserError((rule.empty() ? "a merge" : "rule '" + rule + "'") + " computes (" +
                  primitive.name +
                  " …) with terms, on which this equality rests; such steps aren't explained "
                  "yet");
}

Value Explainer::run_primitive(const std::string& rule, const Primitive& primitive,
                               std::span<const Value> inputs) {
  const bool with_ids = std::any_of(primitive.inputs.begin(), primitive.inputs.end(),
                                    [&](SortId sort) { return database_.holds_ids(sort); });
  if (with_ids && !moves_terms_only(primitive)) refuse(rule, primitive);
  const std::optional<Value> result = primitive.run(database_.constants, inputs);
  LUMINAL_CHECK(result.has_value(), "a primitive that had a result has none now");
  return *result;
}

void Explainer::refuse_primitives(const Application& application, const ProofStep& step) const {
  for (const Instruction& instruction : application.program->code) {
    if (instruction.op != Instruction::Op::Primitive) continue;
    const Primitive& primitive = database_.schema.primitive(PrimitiveId{instruction.id});
    const bool with_ids =
        std::any_of(instruction.inputs.begin(), instruction.inputs.end(),
                    [&](uint32_t reg) { return register_holds_ids(application, reg); });
    if (with_ids && !moves_terms_only(primitive)) refuse(step.rule, primitive);
  }
}

const Instruction& Explainer::producer(const Program& program, uint32_t reg) const {
  const auto found = std::find_if(
      program.code.begin(), program.code.end(),
      [&](const Instruction& i) { return i.target == reg && i.op <= Instruction::Op::Lookup; });
  LUMINAL_CHECK(found != program.code.end(), "nothing writes this register");
  return *found;
}

bool Explainer::register_holds_ids(const Application& application, uint32_t reg) const {
  SortId sort;
  if (reg < application.inputs.size()) {
    sort = application.input_sorts[reg];
  } else {
    const Instruction& from = producer(*application.program, reg);
    if (reads_row(from)) sort = database_.schema.function(FunctionId{from.id}).output;
    if (from.op == Instruction::Op::Global) sort = database_.globals[from.id].sort;
    if (from.op == Instruction::Op::Primitive) {
      sort = database_.schema.primitive(PrimitiveId{from.id}).output;
    }
  }
  return sort.valid() && database_.holds_ids(sort);
}

Value Explainer::original(const Application& application, uint32_t reg) const {
  if (reg < application.inputs.size()) return application.inputs[reg];
  const Instruction& from = producer(*application.program, reg);
  switch (from.op) {
    case Instruction::Op::Constant:
      return from.constant;
    case Instruction::Op::Global:
      return log_.global(from.id);
    case Instruction::Op::Primitive: {
      std::vector<Value> inputs;
      for (const uint32_t input : from.inputs) inputs.push_back(original(application, input));
      for (const Value input : inputs) {
        if (!input.valid()) return {};
      }
      return database_.schema.primitive(PrimitiveId{from.id})
          .run(database_.constants, inputs)
          .value_or(Value{});
    }
    default: {
      const uint32_t fact = application.register_facts.at(reg);
      return fact == kNoFact ? Value{} : value(fact);
    }
  }
}

bool Explainer::may_be(const Application& application, uint32_t reg, Value value, SortId sort,
                       uint32_t before) const {
  const Value found = original(application, reg);
  return found.valid() && past_.equal_before(found, value, sort, before);
}

void Explainer::need_value(const Application& application, uint32_t reg, Value value, SortId sort,
                           uint32_t before, ProofStep& step) {
  need_register(application, reg, before, step);
  const Value found = original(application, reg);
  need_equal(found, value, sort, before);
  need_terms(found, sort);
}

void Explainer::need_register(const Application& application, uint32_t reg, uint32_t before,
                              ProofStep& step) {
  if (reg < application.inputs.size()) return;
  const Instruction& from = producer(*application.program, reg);
  for (const uint32_t input : from.inputs) need_register(application, input, before, step);
  if (from.op == Instruction::Op::Primitive) {
    std::vector<Value> inputs;
    const Primitive& primitive = database_.schema.primitive(PrimitiveId{from.id});
    for (const uint32_t input : from.inputs) {
      inputs.push_back(original(application, input));
      if (primitive.any_sort && register_holds_ids(application, input)) {
        refuse(step.rule, primitive);
      }
    }
    run_primitive(step.rule, primitive, inputs);
  }
  if (!reads_row(from)) return;
  const uint32_t fact = application.register_facts.at(reg);
  LUMINAL_CHECK(fact != kNoFact, "the log doesn't know the term of an action");
  const Function& function = function_of(fact);
  for (size_t i = 0; i < from.inputs.size(); ++i) {
    const Value input = original(application, from.inputs[i]);
    need_equal(arguments(fact)[i], input, function.inputs[i], before);
    need_terms(input, function.inputs[i]);
  }
  need_terms(value(fact), function.output);
  if (from.op == Instruction::Op::Lookup) cite(fact, step);
}

}  // namespace luminal::egraph

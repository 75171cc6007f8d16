#include "luminal/egraph/database/proof_log.h"

#include "luminal/base/check.h"
#include "luminal/egraph/database/database.h"

#include <algorithm>

namespace luminal::egraph {

std::vector<SlotSource> slot_sources(const Query& query) {
  std::vector<SlotSource> sources(query.slots);
  for (uint32_t a = 0; a < query.atoms.size(); ++a) {
    const Atom& atom = query.atoms[a];
    for (uint32_t column = 0; column < atom.slots.size(); ++column) {
      SlotSource& source = sources[atom.slots[column]];
      if (source.atom != Value::kNone) continue;
      source.atom = a;
      source.column = column;
    }
  }
  for (const Preset& preset : query.presets) sources[preset.slot].global = preset.global;
  return sources;
}

size_t ProofLog::bytes() const {
  return facts_.bytes() + values_.bytes() + causes_.bytes() + cause_facts_.bytes() +
         unions_.bytes() + definitions_.bytes();
}

void ProofLog::begin_rule(const Query& query, const std::vector<uint32_t>& kept) {
  query_ = &query;
  kept_ = &kept;
  sources_ = slot_sources(query);
}

void ProofLog::begin_batch(RuleId rule, const uint32_t* matched, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    origins_[i] = {.rule = rule.value, .matched = matched + i * query_->atoms.size()};
  }
}

Value ProofLog::original_input(const Database& database, uint32_t number) const {
  const ProofOrigin& origin = *frame->origin;
  if (origin.rule == ProofOrigin::kMerge) {
    const Fact& fact = facts_[origin.merged[number]];
    return values_[fact.first + database.table(FunctionId{fact.function}).inputs()];
  }
  const SlotSource& source = sources_[(*kept_)[number]];
  if (source.atom != Value::kNone) {
    const FunctionId function = query_->atoms[source.atom].function;
    const uint32_t fact = database.table(function).fact(origin.matched[source.atom]);
    return values_[facts_[fact].first + source.column];
  }
  if (source.global != Value::kNone) return globals_[source.global];
  return frame->registers[number];
}

Value ProofLog::original(const Database& database, uint32_t reg) const {
  if (reg < frame->program->inputs) return original_input(database, reg);
  for (const Instruction& instruction : frame->program->code) {
    if (instruction.target != reg) continue;
    if (reads_row(instruction) && frame->rows[reg] != kNoRow) {
      const Table& table = database.table(FunctionId{instruction.id});
      return values_[facts_[table.fact(frame->rows[reg])].first + table.inputs()];
    }
    if (instruction.op == Instruction::Op::Global) return globals_[instruction.id];
  }
  return frame->registers[reg];
}

uint32_t ProofLog::new_cause(const Database& database, const ProofOrigin& origin) {
  const uint32_t number = static_cast<uint32_t>(causes_.size());
  causes_.push_back({.rule = origin.rule,
                     .first = static_cast<uint32_t>(cause_facts_.size()),
                     .unions = searched_unions_});
  if (origin.rule == ProofOrigin::kMerge) {
    for (const uint32_t fact : origin.merged) cause_facts_.push_back(fact);
  } else {
    for (size_t a = 0; a < query_->atoms.size(); ++a) {
      cause_facts_.push_back(database.table(query_->atoms[a].function).fact(origin.matched[a]));
    }
  }
  for (const Instruction& instruction : frame->program->code) {
    if (reads_row(instruction)) cause_facts_.push_back(kNoFact);
  }
  return number;
}

uint32_t ProofLog::cause_here(const Database& database) {
  if (frame == nullptr || frame->origin->rule == ProofOrigin::kCommand) return kCommandCause;
  ProofOrigin& origin = *frame->origin;
  if (origin.cause == kNoFact) origin.cause = new_cause(database, origin);
  size_t at = causes_[origin.cause].first +
              (origin.rule == ProofOrigin::kMerge ? origin.merged.size() : query_->atoms.size());
  for (const Instruction& instruction : frame->program->code) {
    if (!reads_row(instruction)) continue;
    const uint32_t row = frame->rows[instruction.target];
    uint32_t& fact = cause_facts_[at++];
    if (fact == kNoFact && row != kNoRow) {
      fact = database.table(FunctionId{instruction.id}).fact(row);
    }
    if (&instruction == frame->instruction && row == kNoRow) {
      fact = static_cast<uint32_t>(facts_.size());  // the fact that is being added
    }
  }
  return origin.cause;
}

uint32_t ProofLog::push_fact(FunctionId function, uint32_t cause) {
  LUMINAL_CHECK(facts_.size() < kNoFact && values_.size() < Value::kNone,
                "a log of proofs is full: 32-bit numbers are used up");
  facts_.push_back({.function = function.value,
                    .first = static_cast<uint32_t>(values_.size()),
                    .cause = cause,
                    .unions = static_cast<uint32_t>(unions_.size())});
  return static_cast<uint32_t>(facts_.size() - 1);
}

uint32_t ProofLog::add_fact(const Database& database, FunctionId function,
                            std::span<const Value> arguments, Value value) {
  const uint32_t number = push_fact(function, cause_here(database));
  for (size_t i = 0; i < arguments.size(); ++i) {
    values_.push_back(frame == nullptr ? arguments[i]
                                       : original(database, frame->instruction->inputs[i]));
  }
  const bool is_set = frame != nullptr && frame->instruction->op == Instruction::Op::Set;
  values_.push_back(is_set ? original(database, frame->instruction->inputs.back()) : value);
  if (database.schema.function(function).kind == FunctionKind::Constructor) {
    LUMINAL_CHECK(value.index() == definitions_.size(), "an id was made without a fact");
    definitions_.push_back(number);
  }
  return number;
}

void ProofLog::finish_merge(const Database& database) {
  frame->instruction = nullptr;
  cause_here(database);
  frame->origin->result = original(database, frame->origin->result_register);
}

uint32_t ProofLog::add_merged(const Database& database, const ProofOrigin& origin) {
  const Fact old = facts_[origin.merged[0]];
  const uint32_t number = push_fact(FunctionId{old.function}, origin.cause);
  const size_t inputs = database.table(FunctionId{old.function}).inputs();
  for (size_t i = 0; i < inputs; ++i) values_.push_back(values_[old.first + i]);
  values_.push_back(origin.result);
  return number;
}

void ProofLog::add_union(const Database& database, Value a, Value b) {
  const UnionFind& ids = database.ids();
  const uint32_t cause = cause_here(database);
  Value first = a, second = b;
  if (frame != nullptr) {
    first = original(database, frame->instruction->inputs[0]);
    second = original(database, frame->instruction->inputs[1]);
  }
  LUMINAL_CHECK(
      ids.find(first.value) == ids.find(a.value) && ids.find(second.value) == ids.find(b.value),
      "a union was logged for other classes than it makes one");
  unions_.push_back({.a = first.value, .b = second.value, .cause = cause});
}

void ProofLog::add_congruence(const Database& database, uint32_t fact_a, uint32_t fact_b) {
  const size_t inputs = database.table(FunctionId{facts_[fact_a].function}).inputs();
  unions_.push_back({.a = values_[facts_[fact_a].first + inputs].value,
                     .b = values_[facts_[fact_b].first + inputs].value,
                     .cause = kCongruence});
}

ProofFrameScope::ProofFrameScope(std::optional<ProofLog>& log, const Program& program,
                                 const Value* registers, size_t count, ProofOrigin* origin)
    : log_(*log), outer_(log_.frame), rows_(count, kNoRow) {
  frame_ = {.program = &program,
            .registers = registers,
            .rows = rows_.data(),
            .origin = origin == nullptr ? &command_ : origin};
  log_.frame = &frame_;
}

ProofFrameScope::~ProofFrameScope() { log_.frame = outer_; }

void ProofFrameScope::enter(size_t match, size_t stride, const Value* registers) {
  frame_.registers = registers + match * stride;
  frame_.rows = rows_.data() + match * stride;
  frame_.origin = &log_.match(match);
}

}  // namespace luminal::egraph

// ProofLog: the facts and unions of an e-graph in the order they happened, each with its cause.
#pragma once

#include "luminal/egraph/database/rule.h"
#include "luminal/egraph/grow_array.h"
#include "luminal/egraph/value.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace luminal::egraph {

class Database;

inline constexpr uint32_t kNoFact = 0xffffffffu;

// Where the value of a query's slot comes from: a column of an atom's row, or a global; if neither
// is set, a constant or the result of a primitive.
struct SlotSource {
  uint32_t atom = Value::kNone;
  uint32_t column = 0;
  uint32_t global = Value::kNone;
};
std::vector<SlotSource> slot_sources(const Query& query);

// What actions run for: a command, a match of a rule or a merge of two facts.
struct ProofOrigin {
  static constexpr uint32_t kCommand = 0, kMerge = 0xfffffffeu;

  uint32_t rule = kCommand;             // kCommand, kMerge or a RuleId
  const uint32_t* matched = nullptr;    // rule: the row of each atom
  std::array<uint32_t, 2> merged = {};  // merge: the old and the new fact
  uint32_t result_register = 0;         // merge: the register with its result
  Value result = {};                    // merge: its result, once it ran
  uint32_t cause = kNoFact;             // its number in the log, once it had an effect
};

// The actions being executed: their registers, and the rows at which the terms in them were found.
struct ProofFrame {
  const Program* program = nullptr;
  const Value* registers = nullptr;
  uint32_t* rows = nullptr;  // by register
  ProofOrigin* origin = nullptr;
  const Instruction* instruction = nullptr;
};

// A match is logged when it first changes something. Values are logged as the ids first given to
// terms, not as the roots of their classes, so an id always stands for one term: the one of the
// fact that defined it. Only unions of distinct classes are logged, so the unions form a forest:
// there is exactly one path between two equal ids, and it is older than everything that relies on
// it.
class ProofLog {
 public:
  static constexpr uint32_t kCommandCause = 0, kCongruence = 0xffffffffu;

  struct Fact {
    uint32_t function;
    uint32_t first;  // index of its first value
    uint32_t cause;
    uint32_t unions;  // number of unions before it
  };
  struct Cause {
    uint32_t rule;    // as in ProofOrigin
    uint32_t first;   // index of its facts: those matched, then those of its terms and lookups
    uint32_t unions;  // number of unions before the search that found it
  };
  struct Union {
    uint32_t a, b;
    uint32_t cause;  // kCongruence: the terms of both ids have equal arguments
  };

  ProofLog() { causes_.push_back({.rule = ProofOrigin::kCommand, .first = 0, .unions = 0}); }

  size_t facts() const { return facts_.size(); }
  const Fact& fact(uint32_t number) const { return facts_[number]; }
  // A fact's arguments, then its value.
  std::span<const Value> values(uint32_t fact, size_t width) const {
    return {values_.data() + facts_[fact].first, width};
  }
  std::span<const Union> unions() const { return {unions_.data(), unions_.size()}; }
  const Cause& cause(uint32_t number) const { return causes_[number]; }
  uint32_t cause_fact(const Cause& cause, size_t number) const {
    return cause_facts_[cause.first + number];
  }
  // The fact that defined an id.
  uint32_t definition(Value id) const { return definitions_[id.index()]; }
  Value global(size_t index) const { return globals_[index]; }
  size_t bytes() const;

  // --- recording ----------------------------------------------------------------------------

  // Null outside of actions: values are then logged unchanged.
  ProofFrame* frame = nullptr;
  uint32_t last_row = 0;  // the row at which the last term was found or made

  // Call before an iteration searches.
  void begin_search() { searched_unions_ = static_cast<uint32_t>(unions_.size()); }
  // Sets the rule whose matches are applied next, then the rows of one batch of them.
  void begin_rule(const Query& query, const std::vector<uint32_t>& kept);
  void begin_batch(RuleId rule, const uint32_t* matched, size_t count);
  ProofOrigin& match(size_t number) { return origins_[number]; }

  uint32_t add_fact(const Database& database, FunctionId function, std::span<const Value> arguments,
                    Value value);
  // Call when the merge of the current frame has run.
  void finish_merge(const Database& database);
  // Logs the merge's result, at the arguments of the old fact.
  uint32_t add_merged(const Database& database, const ProofOrigin& origin);
  // Logs both sides as the current instruction has them.
  void add_union(const Database& database, Value a, Value b);
  void add_congruence(const Database& database, uint32_t fact_a, uint32_t fact_b);
  void add_global(Value value) { globals_.push_back(value); }

 private:
  // The value of a register as the id that its term was first given.
  Value original(const Database& database, uint32_t reg) const;
  Value original_input(const Database& database, uint32_t slot) const;
  // The current origin's cause, with the facts of its terms so far; logs it on first use.
  uint32_t cause_here(const Database& database);
  uint32_t new_cause(const Database& database, const ProofOrigin& origin);
  uint32_t push_fact(FunctionId function, uint32_t cause);

  GrowArray<Fact> facts_;
  GrowArray<Value> values_;
  GrowArray<Cause> causes_;
  GrowArray<uint32_t> cause_facts_;
  GrowArray<Union> unions_;
  GrowArray<uint32_t> definitions_;  // by id
  std::vector<Value> globals_;       // at the time of their binding

  uint32_t searched_unions_ = 0;
  const Query* query_ = nullptr;  // of the current rule
  const std::vector<uint32_t>* kept_ = nullptr;
  std::vector<SlotSource> sources_;  // by slot
  std::array<ProofOrigin, 64> origins_ = {};
};

// Whether an instruction's result is the value of a row.
inline bool reads_row(const Instruction& instruction) {
  return instruction.op == Instruction::Op::Add || instruction.op == Instruction::Op::Lookup;
}

// RAII: opens a frame for actions if there is a log, and closes it.
class ProofFrameScope {
 public:
  ProofFrameScope(std::optional<ProofLog>& log, const Program& program, const Value* registers,
                  size_t count, ProofOrigin* origin);
  ~ProofFrameScope();
  ProofFrameScope(const ProofFrameScope&) = delete;
  ProofFrameScope& operator=(const ProofFrameScope&) = delete;

  uint32_t* rows() { return rows_.data(); }
  void note_row(uint32_t reg, uint32_t row) { rows_[reg] = row; }
  void step(const Instruction& instruction) { frame_.instruction = &instruction; }
  void enter(size_t match, size_t stride, const Value* registers);

 private:
  ProofLog& log_;
  ProofFrame* outer_;
  ProofFrame frame_;
  ProofOrigin command_;
  std::vector<uint32_t> rows_;
};

}  // namespace luminal::egraph

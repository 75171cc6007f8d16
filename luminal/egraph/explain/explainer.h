// Explainer: walks the proof log backwards from an equality to everything it rests on.
#pragma once

#include "luminal/egraph/database/proof_log.h"
#include "luminal/egraph/explain/past_equality.h"
#include "luminal/egraph/explain/union_forest.h"
#include "luminal/egraph/explanation.h"
#include "luminal/egraph/saturate/engine.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace luminal::egraph {

// An application of a rule or a merge, with values as the log has them.
struct Application {
  const Program* program = nullptr;
  std::vector<uint32_t> matched;    // facts by atom; for a merge the old and the new one
  std::vector<Value> inputs;        // of the program
  std::vector<SortId> input_sorts;  // not valid for base values
  std::map<uint32_t, uint32_t> register_facts;  // facts of terms and lookups, by register
};

// A worklist: each required fact, union and term is queued once and explained until the lists are
// empty. A time is a number of unions: an explanation at time t uses only unions before t.
class Explainer {
 public:
  Explainer(Engine& engine, const UnionForest& forest)
      : engine_(engine),
        database_(engine.database),
        log_(*engine.database.proofs),
        forest_(forest),
        past_(engine.database, forest),
        next_term_(static_cast<uint32_t>(engine.database.ids().size())) {}

  bool are_equal(Value a, Value b) const {
    return forest_.connected(known(a).value, known(b).value);
  }

  Explanation explain(Value a, Value b, SortId sort);

  // The id of a term exactly as written. If the e-graph never held it in this form, it gets a new
  // id, equal by congruence to the term that the e-graph has instead.
  Value asked(const CompiledExpr& compiled);

 private:
  struct Asked {
    uint32_t fact;  // of the term that the e-graph has instead
    ProofTerm term;
  };

  // --- reading the log

  const Function& function_of(uint32_t fact) const {
    return database_.schema.function(FunctionId{log_.fact(fact).function});
  }
  std::span<const Value> arguments(uint32_t fact) const {
    return log_.values(fact, function_of(fact).inputs.size());
  }
  Value value(uint32_t fact) const {
    return log_.values(fact, function_of(fact).inputs.size() + 1).back();
  }
  SortId column_sort(const Function& function, size_t column) const {
    return column < function.inputs.size() ? function.inputs[column] : function.output;
  }

  // --- terms that were asked for

  Value looked_up(uint32_t fact);
  Value asked_term(FunctionId function, uint32_t fact, std::vector<Value> exact);

  // The logged id that a requested term is equal to.
  Value known(Value id) const;
  Value known(Value value, SortId sort) const {
    return database_.is_equality(sort) ? known(value) : value;
  }
  uint32_t asked_step(Value id) const;

  // --- what is needed

  void need_fact(uint32_t fact) {
    if (facts_.insert(fact).second) open_facts_.push_back(fact);
  }
  void need_union(uint32_t number) {
    if (unions_.insert(number).second) open_unions_.push_back(number);
  }
  void need_term(Value id);
  void need_terms(Value value, SortId sort) {
    database_.for_each_id(value, sort, [this](Value id) { need_term(id); });
  }
  void need_equal(Value a, Value b, SortId sort, uint32_t before);
  void need_entries(std::span<const Value> all, std::span<const Value> in, SortId sort,
                    uint32_t before);
  void work();  // until the worklists are empty

  // --- facts and unions

  void explain_fact(uint32_t number);
  void explain_union(uint32_t number);

  // Finds what made a fact: a term, a set, or the merge itself.
  void explain_effect(const Application& application, uint32_t fact, uint32_t before,
                      ProofStep& step);
  bool same_inputs(const Application& application, const Instruction& instruction, uint32_t fact,
                   uint32_t before) const;

  // --- applications

  Application apply(uint32_t number, uint32_t before, ProofStep& step);
  void cite(uint32_t fact, ProofStep& step);
  void apply_merge(const ProofLog::Cause& cause, uint32_t before, Application& result,
                   ProofStep& step);
  void apply_rule(const ProofLog::Cause& cause, uint32_t before, Application& result,
                  ProofStep& step);

  // The slot values of a match, from the facts of its atoms.
  std::vector<Value> match(const Rule& rule, const std::vector<uint32_t>& matched, uint32_t before);
  void need_equal_presets(const Query& query, const std::vector<Value>& slots, uint32_t a,
                          uint32_t b, uint32_t before);
  void run_guards(const Rule& rule, std::vector<Value>& slots, uint32_t before);
  void run_guard(const Rule& rule, const Guard& guard, std::vector<Value>& slots, uint32_t before);

  // The sort of a slot if its values hold ids, else invalid.
  SortId id_sort(const Query& query, uint32_t slot) const;

  // --- primitives: run again if that is sure to give the same result

  [[noreturn]] void refuse(const std::string& rule, const Primitive& primitive) const;
  Value run_primitive(const std::string& rule, const Primitive& primitive,
                      std::span<const Value> inputs);

  // Called if no action explains an effect: throws if one of its primitives compares terms.
  void refuse_primitives(const Application& application, const ProofStep& step) const;

  // --- actions

  const Instruction& producer(const Program& program, uint32_t reg) const;
  bool register_holds_ids(const Application& application, uint32_t reg) const;

  // The value as it was logged; invalid if that can't be determined.
  Value original(const Application& application, uint32_t reg) const;

  // The result of a primitive may be logged as another term of the same class.
  bool may_be(const Application& application, uint32_t reg, Value value, SortId sort,
              uint32_t before) const;
  void need_value(const Application& application, uint32_t reg, Value value, SortId sort,
                  uint32_t before, ProofStep& step);
  void need_register(const Application& application, uint32_t reg, uint32_t before,
                     ProofStep& step);

  // --- the result

  void write_steps();

  struct Timed {
    uint32_t unions;  // number of unions before it
    bool is_union;
    uint32_t number;
    ProofStep step;
  };

  Engine& engine_;
  Database& database_;
  const ProofLog& log_;
  const UnionForest& forest_;
  PastEquality past_;
  uint32_t next_term_;
  std::vector<Asked> asked_;
  std::set<uint32_t> facts_, unions_, terms_;
  std::vector<uint32_t> open_facts_, open_unions_;
  std::vector<Value> open_terms_;
  std::vector<Timed> steps_;
  std::map<uint32_t, uint32_t> union_steps_;
  Explanation result_;
};

}  // namespace luminal::egraph

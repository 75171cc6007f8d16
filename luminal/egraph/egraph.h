// EGraph: equality saturation in egglog's language, with terms, rules and runs from C++ or text.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/constants.h"
#include "luminal/egraph/explanation.h"
#include "luminal/egraph/export.h"
#include "luminal/egraph/files.h"
#include "luminal/egraph/report.h"
#include "luminal/egraph/rule_builder.h"
#include "luminal/egraph/schedule.h"
#include "luminal/egraph/schema.h"
#include "luminal/egraph/snapshot.h"
#include "luminal/egraph/value.h"
#include "luminal/egraph/why_not.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

struct ProgramOptions {
  RunLimits limits = {};         // of each run
  Files files = system_files();  // file access of include, input and output
  std::function<void(const std::string&)> on_output = {};  // called with each new output
};

// Errors: UserError for name clashes, wrong sorts, syntax errors and panics of rules;
// InternalError, naming the rule, for a conflict in a :no-merge function to a host sort. An error
// during a run may leave the e-graph half changed; copy it first if that matters.
//
// Deterministic: equal calls give equal ids, rows, reports (except times) and bytes everywhere.
class LUMINAL_API EGraph {
 public:
  EGraph();
  ~EGraph();
  EGraph(const EGraph& other);
  EGraph& operator=(const EGraph& other);
  EGraph(EGraph&& other) noexcept;
  EGraph& operator=(EGraph&& other) noexcept;

  // Records what `explain` needs from now on, at a cost in time and memory. UserError if anything
  // was added before.
  void record_proofs();

  // --- declarations, which text can make too ---------------------------------------------------

  SortId add_sort(const std::string& name);
  // Values are ids that the host assigns; equal ids are equal values.
  SortId add_host_sort(const std::string& name, HostPrinter print = {});
  void add_primitive(const std::string& name, std::vector<SortId> inputs, SortId output,
                     PrimitiveFunction run);
  // Observes which host values a run asks about, for example to replay it without the host.
  void watch_host_primitives(const HostCallWatcher& watcher);
  FunctionId add_constructor(const std::string& name, std::vector<SortId> inputs, SortId output,
                             uint64_t cost = 1);
  FunctionId add_relation(const std::string& name, std::vector<SortId> inputs);
  // Two different values for the same arguments are a conflict (:no-merge).
  FunctionId add_function(const std::string& name, std::vector<SortId> inputs, SortId output);

  // By name; UserError if there is none.
  SortId sort(std::string_view name) const;
  FunctionId function(std::string_view name) const;
  RulesetId ruleset(std::string_view name) const;
  std::optional<RuleId> find_rule(std::string_view name) const;
  const std::string& rule_name(RuleId id) const;  // "initial" for kInitial
  size_t rules() const;
  const Schema& schema() const;
  Constants& constants();
  const Constants& constants() const;

  // --- terms and facts ----------------------------------------------------------------------

  // The class of a node; for a relation, states that it holds and returns unit.
  Value add(FunctionId function, std::span<const Value> arguments);
  Value add(FunctionId function, std::initializer_list<Value> arguments) {
    return add(function, std::span(arguments.begin(), arguments.size()));
  }
  // Runs the function's merge if there already is a value.
  void set(FunctionId function, std::span<const Value> arguments, Value value);
  void set(FunctionId function, std::initializer_list<Value> arguments, Value value) {
    set(function, std::span(arguments.begin(), arguments.size()), value);
  }
  std::optional<Value> lookup(FunctionId function, std::span<const Value> arguments) const;
  std::optional<Value> lookup(FunctionId function, std::initializer_list<Value> arguments) const {
    return lookup(function, std::span(arguments.begin(), arguments.size()));
  }
  // Both must be of one equality sort. Congruence is applied at the next rebuild, which runs,
  // programs, snapshots and extraction start with.
  void union_values(Value a, Value b);
  void rebuild();
  // The smallest id of the class.
  Value find(Value value) const;
  bool same(Value a, Value b) const { return find(a) == find(b); }
  // Names a value for use in rules and commands.
  void let(const std::string& name, SortId sort, Value value);

  // --- rules and runs -----------------------------------------------------------------------

  RulesetId add_ruleset(const std::string& name);
  // UserError if the name is taken or the rule's sorts don't fit.
  RuleId add_rule(const std::string& name, RulesetId ruleset, const RuleBuilder& rule);

  // Runs the commands of a text: declarations, rules, facts, runs, checks. Errors name `source`.
  ProgramResult run_program(std::string_view text, std::string_view source);
  ProgramResult run_program(std::string_view text, std::string_view source,
                            const ProgramOptions& options);
  RunReport run(const Schedule& schedule, const RunLimits& limits = {});

  // --- results ------------------------------------------------------------------------------

  size_t size(FunctionId function) const;  // live rows
  size_t tuples() const;                   // of all functions
  size_t classes() const;
  size_t ids() const;    // assigned so far: 0, 1, 2, … are values of equality sorts
  size_t bytes() const;  // of tables, their indexes, classes and recorded proofs
  // Live rows in the order they were added or last changed; values are canonical after a rebuild.
  void for_each_row(FunctionId function,
                    const std::function<void(std::span<const Value> arguments, Value value,
                                             RuleId origin)>& visit) const;
  Snapshot snapshot();
  // The term of minimum tree cost; UserError if the class has no finite one.
  ExtractedTerm extract(Value value, SortId sort);
  // A term of low DAG cost: a shared subterm costs once. UserError likewise.
  ExtractedDag extract_dag(Value value, SortId sort);
  // A literal of the language, or `#7` for a class.
  std::string print(Value value, SortId sort) const;
  // Every live row with the rule that made it.
  std::string dump() const;
  // The value of a term given as text; adds nothing. UserError if the text is wrong or the term
  // isn't in the e-graph; the message names the missing part.
  Value find_term(std::string_view text);
  // Why a rule doesn't match at a term: `RULE at TERM`, or `RULE at VARIABLE=TERM` to choose the
  // variable of the rule that is bound to the term; or a rule and a value.
  WhyNot why_not(std::string_view question);
  WhyNot why_not(RuleId rule, Value value, SortId sort, std::string_view variable = {});
  // Why two terms are equal: `TERM = TERM`, explained as written, or two values of one equality
  // sort, explained as the terms they were first given to. UserError if proofs weren't recorded,
  // the terms aren't equal, or a rule on the way compares terms inside of containers. Both rebuild.
  Explanation explain(std::string_view question);
  Explanation explain(Value a, Value b);
  // Checks each step of an explanation, by a checker that knows only the rules as written.
  ProofVerdict check(const Explanation& explanation);
  // The chain and the steps it rests on, for people and for tools.
  std::string text(const Explanation& explanation) const;
  std::string json(const Explanation& explanation) const;
  // The egraph-serialize format, which other tools read, and Graphviz; the whole e-graph or the
  // neighbourhood of a class. The output says what it leaves out. Both rebuild.
  std::string export_json(const ExportOptions& options = {});
  std::string export_dot(const ExportOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace luminal::egraph

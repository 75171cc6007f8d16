#include "luminal/egraph/egraph.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/explain/explain.h"
#include "luminal/egraph/explain/term_text.h"
#include "luminal/egraph/extract/extract_dag.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/program/program.h"
#include "luminal/egraph/report/shown_graph.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/saturate/runner.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

struct EGraph::State {
  Engine engine;

  Database& database() { return engine.database; }
  void check_arity(FunctionId function, size_t arguments) const {
    const Function& declared = engine.database.schema.function(function);
    LUMINAL_CHECK(declared.inputs.size() == arguments,
                  "'" + declared.name + "' takes " + std::to_string(declared.inputs.size()) +
                      " arguments, found " + std::to_string(arguments));
  }
};

EGraph::EGraph() : state_(std::make_unique<State>()) {}
EGraph::~EGraph() = default;
EGraph::EGraph(const EGraph& other) : state_(std::make_unique<State>(*other.state_)) {}
EGraph& EGraph::operator=(const EGraph& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
EGraph::EGraph(EGraph&& other) noexcept = default;
EGraph& EGraph::operator=(EGraph&& other) noexcept = default;

void EGraph::record_proofs() {
  Database& database = state_->database();
  if (database.ids().size() > 0 || database.tuples() > 0 || !database.globals.empty()) {
    throw UserError("proofs are recorded from the start; ask for them before anything is added");
  }
  if (!database.proofs) database.proofs.emplace();
}

SortId EGraph::add_sort(const std::string& name) {
  return state_->database().schema.add(Sort{.name = name, .kind = SortKind::Equality, .print = {}});
}

SortId EGraph::add_host_sort(const std::string& name, HostPrinter print) {
  return state_->database().schema.add(
      Sort{.name = name, .kind = SortKind::Host, .print = std::move(print)});
}

void EGraph::add_primitive(const std::string& name, std::vector<SortId> inputs, SortId output,
                           PrimitiveFunction run) {
  if (inputs.size() > Schema::kMaxInputs) {
    throw UserError("primitive '" + name + "' takes more than " +
                    std::to_string(Schema::kMaxInputs) + " arguments");
  }
  state_->database().schema.add(Primitive{.name = name,
                                          .inputs = std::move(inputs),
                                          .output = output,
                                          .run = std::move(run),
                                          .host = true});
}

void EGraph::watch_host_primitives(const HostCallWatcher& watcher) {
  state_->database().schema.watch_host_primitives(watcher);
}

FunctionId EGraph::add_constructor(const std::string& name, std::vector<SortId> inputs,
                                   SortId output, uint64_t cost) {
  return declare_constructor(
      state_->engine,
      Function{.name = name, .inputs = std::move(inputs), .output = output, .cost = cost});
}

FunctionId EGraph::add_relation(const std::string& name, std::vector<SortId> inputs) {
  return declare_relation(state_->engine,
                          Function{.name = name, .inputs = std::move(inputs), .output = SortId{}});
}

FunctionId EGraph::add_function(const std::string& name, std::vector<SortId> inputs,
                                SortId output) {
  return declare_function(state_->engine,
                          Function{.name = name, .inputs = std::move(inputs), .output = output},
                          {.kind = Merge::Kind::MustAgree});
}

SortId EGraph::sort(std::string_view name) const {
  if (const auto found = schema().find_sort(name)) return *found;
  throw UserError("there is no sort '" + std::string(name) + "'; declare it first");
}

FunctionId EGraph::function(std::string_view name) const {
  if (const auto found = schema().find_function(name)) return *found;
  throw UserError("there is no function '" + std::string(name) + "'; declare it first");
}

RulesetId EGraph::ruleset(std::string_view name) const {
  const auto& names = state_->engine.ruleset_names;
  if (const auto found = names.find(name); found != names.end()) return found->second;
  throw UserError("there is no ruleset '" + std::string(name) + "'; declare it first");
}

std::optional<RuleId> EGraph::find_rule(std::string_view name) const {
  const auto& names = state_->engine.rule_names;
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

const std::string& EGraph::rule_name(RuleId id) const {
  return state_->engine.database.rule_names.at(id.index());
}

size_t EGraph::rules() const { return state_->engine.rules.size(); }
const Schema& EGraph::schema() const { return state_->engine.database.schema; }
Constants& EGraph::constants() { return state_->engine.database.constants; }
const Constants& EGraph::constants() const { return state_->engine.database.constants; }

Value EGraph::add(FunctionId function, std::span<const Value> arguments) {
  state_->check_arity(function, arguments.size());
  LUMINAL_CHECK(schema().function(function).kind != FunctionKind::Function,
                "'" + schema().function(function).name + "' is a function: set it");
  return state_->database().add(function, arguments);
}

void EGraph::set(FunctionId function, std::span<const Value> arguments, Value value) {
  state_->check_arity(function, arguments.size());
  LUMINAL_CHECK(schema().function(function).kind == FunctionKind::Function,
                "'" + schema().function(function).name + "' has no values to set: add it");
  state_->database().set(function, arguments, value);
}

std::optional<Value> EGraph::lookup(FunctionId function, std::span<const Value> arguments) const {
  state_->check_arity(function, arguments.size());
  return state_->engine.database.lookup(function, arguments);
}

void EGraph::union_values(Value a, Value b) {
  Database& database = state_->database();
  LUMINAL_CHECK(database.sort_of(a) == database.sort_of(b), "values of two sorts can't be equal");
  database.unite(a, b);
}

void EGraph::rebuild() { egraph::rebuild(state_->database()); }

Value EGraph::find(Value value) const {
  return Value{std::as_const(state_->engine.database).ids().find(value.value)};
}

void EGraph::let(const std::string& name, SortId sort, Value value) {
  state_->engine.add_global(name, sort, state_->database().canonical(value, sort));
}

RulesetId EGraph::add_ruleset(const std::string& name) { return state_->engine.add_ruleset(name); }

RuleId EGraph::add_rule(const std::string& name, RulesetId ruleset, const RuleBuilder& rule) {
  Engine& engine = state_->engine;
  const Command command{.position = {.line = 1, .column = 1},
                        .body = rule.declaration(name, engine.rulesets[ruleset.index()].name)};
  ProgramResult result;
  run_commands(engine, {&command, 1}, "rule " + name, RunLimits(), Files(), result);
  return engine.rule_names.find(name)->second;
}

ProgramResult EGraph::run_program(std::string_view text, std::string_view source) {
  return run_program(text, source, ProgramOptions());
}

ProgramResult EGraph::run_program(std::string_view text, std::string_view source,
                                  const ProgramOptions& options) {
  ProgramResult result;
  const std::vector<Command> commands = parse(text, source);
  const Constants::Limited limited(state_->database().constants, constant_limit(options.limits));
  for (const Command& command : commands) {
    const size_t before = result.outputs.size();
    run_commands(state_->engine, {&command, 1}, source, options.limits, options.files, result);
    if (!options.on_output) continue;
    std::for_each(result.outputs.begin() + static_cast<ptrdiff_t>(before), result.outputs.end(),
                  options.on_output);
  }
  return result;
}

RunReport EGraph::run(const Schedule& schedule, const RunLimits& limits) {
  return egraph::run(state_->engine, schedule, limits);
}

size_t EGraph::size(FunctionId function) const {
  return state_->engine.database.table(function).live();
}
size_t EGraph::tuples() const { return state_->engine.database.tuples(); }
size_t EGraph::classes() const { return state_->engine.database.classes(); }
size_t EGraph::ids() const { return state_->engine.database.ids().size(); }
size_t EGraph::bytes() const { return state_->engine.database.bytes(); }

void EGraph::for_each_row(
    FunctionId function,
    const std::function<void(std::span<const Value>, Value, RuleId)>& visit) const {
  const Table& table = state_->engine.database.table(function);
  std::vector<Value> arguments(table.inputs());
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!table.alive(row)) continue;
    for (size_t i = 0; i < arguments.size(); ++i) arguments[i] = Value{table.row(row)[i]};
    visit(arguments, Value{table.output(row)}, table.origin(row));
  }
}

Snapshot EGraph::snapshot() {
  rebuild();
  return take_snapshot(state_->database());
}

ExtractedTerm EGraph::extract(Value value, SortId sort) {
  return extract_value(state_->engine, value, sort);
}

ExtractedDag EGraph::extract_dag(Value value, SortId sort) {
  rebuild();
  return egraph::extract_dag(state_->database(), value, sort);
}

std::string EGraph::print(Value value, SortId sort) const {
  return state_->engine.database.print(value, sort);
}

std::string EGraph::dump() const { return state_->engine.dump(); }

Value EGraph::find_term(std::string_view text) {
  rebuild();
  const TermLookup found = look_up_term(state_->engine, text, "term");
  if (found.value) return *found.value;
  throw UserError(std::string(text) + " isn't in the e-graph: there is no " + found.missing);
}

WhyNot EGraph::why_not(std::string_view question) {
  return egraph::why_not(state_->engine, question);
}

WhyNot EGraph::why_not(RuleId rule, Value value, SortId sort, std::string_view variable) {
  return egraph::why_not(state_->engine, rule, value, sort, variable);
}

Explanation EGraph::explain(std::string_view question) {
  return egraph::explain(state_->engine, question);
}

Explanation EGraph::explain(Value a, Value b) {
  Database& database = state_->database();
  if (!database.proofs) throw UserError("proofs weren't recorded; call record_proofs() first");
  LUMINAL_CHECK(database.sort_of(a) == database.sort_of(b), "values of two sorts can't be equal");
  rebuild();
  const UnionForest forest(database.proofs->unions(), database.ids().size());
  return egraph::explain(state_->engine, forest, a, b);
}

ProofVerdict EGraph::check(const Explanation& explanation) {
  return egraph::check(state_->engine, explanation);
}

std::string EGraph::text(const Explanation& explanation) const {
  return explanation_text(state_->engine.database, explanation);
}

std::string EGraph::json(const Explanation& explanation) const {
  return explanation_json(state_->engine.database, explanation);
}

std::string EGraph::export_json(const ExportOptions& options) {
  rebuild();
  return egraph::export_json(state_->database(), options);
}

std::string EGraph::export_dot(const ExportOptions& options) {
  rebuild();
  return egraph::export_dot(state_->database(), options);
}

}  // namespace luminal::egraph

#include "luminal/egraph/program.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/actions.h"
#include "luminal/egraph/extract.h"
#include "luminal/egraph/rebuild.h"
#include "luminal/egraph/runner.h"
#include "luminal/egraph/snapshot.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {
namespace {

class ProgramRunner {
 public:
  ProgramRunner(Engine& engine, std::string_view source, const RunLimits& limits,
                ProgramResult& result)
      : engine_(engine),
        database_(engine.database),
        source_(source),
        limits_(limits),
        result_(result) {}

  void run(const Command& command) {
    position_ = command.position;
    std::visit([this](const auto& body) { run(body); }, command.body);
  }

 private:
  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(source_, position, message);
  }

  // Says where an error without a place happened.
  template <typename F>
  auto here(F f) const {
    try {
      return f();
    } catch (const UserError& error) {
      fail(position_, error.what());
    }
  }

  SortId sort(const NameAt& name) const {
    const auto found = database_.schema.find_sort(name.name);
    if (!found) fail(name.position, "there is no sort '" + name.name + "'; declare it first");
    return *found;
  }

  RulesetId ruleset(const std::string& name, SourcePosition position) const {
    const auto found = engine_.ruleset_names.find(name);
    if (found != engine_.ruleset_names.end()) return found->second;
    fail(position, "there is no ruleset '" + name + "'; declare it with (ruleset " + name + ")");
  }

  // --- declarations -------------------------------------------------------------------------

  void run(const SortDeclaration& declaration) {
    here([&] {
      database_.schema.add(Sort{.name = declaration.name, .kind = SortKind::Equality, .print = {}});
    });
  }

  void run(const FunctionDeclaration& declaration) {
    Function function{.name = declaration.name,
                      .kind = declaration.kind,
                      .inputs = {},
                      .output = database_.schema.unit(),
                      .cost = declaration.cost,
                      .extractable = declaration.extractable};
    for (const NameAt& input : declaration.inputs) function.inputs.push_back(sort(input));
    switch (declaration.kind) {
      case FunctionKind::Relation:
        here([&] { declare_relation(engine_, std::move(function)); });
        return;
      case FunctionKind::Constructor:
        function.output = sort(declaration.output);
        here([&] { declare_constructor(engine_, std::move(function)); });
        return;
      case FunctionKind::Function:
        function.output = sort(declaration.output);
        Merge merge{.kind = Merge::Kind::MustAgree};
        if (declaration.merge) {
          merge = compile_merge(engine_.scope(source_), *declaration.merge, function.output);
        }
        here([&] { declare_function(engine_, std::move(function), std::move(merge)); });
        return;
    }
  }

  void run(const RulesetDeclaration& declaration) {
    here([&] { engine_.add_ruleset(declaration.name); });
  }

  void run(const RuleDeclaration& declaration) {
    const Scope scope = engine_.scope(source_);
    CompiledQuery query = compile_query(scope, declaration.facts);
    CompiledActions actions = compile_actions(scope, query, declaration.actions);
    std::string name = declaration.name;
    if (name.empty()) name = unique_rule_name();
    Rule rule{.name = std::move(name),
              .ruleset = ruleset(declaration.ruleset, position_),
              .matcher = Matcher(std::move(query.query), std::move(actions.kept)),
              .actions = std::move(actions.program),
              .variables = std::move(query.variables)};
    here([&] { engine_.add_rule(std::move(rule)); });
  }

  // A rule without a name is known by its place.
  std::string unique_rule_name() const {
    const std::string place = std::string(source_) + ":" + std::to_string(position_.line) + ":" +
                              std::to_string(position_.column);
    std::string name = place;
    for (int i = 2; engine_.rule_names.contains(name); ++i) name = place + "#" + std::to_string(i);
    return name;
  }

  // --- commands -----------------------------------------------------------------------------

  void run(const ActionSyntax& action) {
    if (action.kind == ActionSyntax::Kind::Let) {
      const auto [value, value_sort] = evaluate(action.exprs[0]);
      here([&] { engine_.add_global(action.name, value_sort, value); });
      return;
    }
    const Program program = compile_command(engine_.scope(source_), action);
    rebuild_here();
    execute_here(program);
  }

  struct Evaluated {
    Value value;
    SortId sort;
  };

  Evaluated evaluate(const Expr& expr) {
    const CompiledExpr compiled = compile_expr(engine_.scope(source_), expr);
    rebuild_here();
    return {execute_here(compiled.program)[compiled.result], compiled.sort};
  }

  std::vector<Value> execute_here(const Program& program) {
    std::vector<Value> registers(program.registers);
    here([&] { execute(database_, program, registers); });
    return registers;
  }

  void rebuild_here() {
    here([&] { rebuild(database_); });
  }

  Schedule schedule(const ScheduleSyntax& syntax) const {
    Schedule result{.times = syntax.times};
    switch (syntax.kind) {
      case ScheduleSyntax::Kind::Run:
        return Schedule::run(ruleset(syntax.ruleset, syntax.position));
      case ScheduleSyntax::Kind::Saturate:
        result.kind = Schedule::Kind::Saturate;
        break;
      case ScheduleSyntax::Kind::Sequence:
        result.kind = Schedule::Kind::Sequence;
        break;
      case ScheduleSyntax::Kind::Repeat:
        result.kind = Schedule::Kind::Repeat;
        break;
    }
    for (const ScheduleSyntax& child : syntax.children) result.parts.push_back(schedule(child));
    return result;
  }

  void run(const RunCommand& command) {
    const Schedule compiled = schedule(command.schedule);
    RunReport report = here([&] { return egraph::run(engine_, compiled, limits_); });
    if (report.stop != StopReason::Finished) result_.outputs.push_back(report.summary());
    result_.runs.push_back(std::move(report));
  }

  void run(const CheckCommand& command) {
    rebuild_here();
    CompiledQuery query = compile_query(engine_.scope(source_), command.facts);
    Matches matches;
    Matcher(std::move(query.query), {}).find(database_, 0, {.matches = 1}, matches);
    if (matches.count > 0) return;
    fail(position_, "check failed: nothing matches " +
                        std::string(command.facts.size() == 1 ? "this fact" : "these facts"));
  }

  void run(const ExtractCommand& command) {
    const auto [value, value_sort] = evaluate(command.expr);
    result_.outputs.push_back(here([&] { return extract_value(engine_, value, value_sort).text; }));
  }

  void run(const PrintSizeCommand& command) {
    rebuild_here();
    if (!command.function.empty()) {
      const auto id = database_.schema.find_function(command.function);
      if (!id) fail(position_, "there is no function '" + command.function + "'");
      result_.outputs.push_back(std::to_string(database_.table(*id).live()));
      return;
    }
    std::vector<std::string> lines;
    for (uint32_t f = 0; f < database_.functions(); ++f) {
      lines.push_back("(" + database_.schema.function(FunctionId{f}).name + " " +
                      std::to_string(database_.table(FunctionId{f}).live()) + ")");
    }
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "(" : "\n ") + line;
    result_.outputs.push_back(text.empty() ? "()" : text + ")");
  }

  // On a copy, which takes with it what the commands did before they failed.
  void run(const FailCommand& command) {
    Engine copy = engine_;
    ProgramResult ignored;
    try {
      run_commands(copy, command.body, source_, limits_, ignored);
    } catch (const UserError&) {
      return;
    }
    fail(position_, "the command was expected to fail, but didn't");
  }

  Engine& engine_;
  Database& database_;
  std::string_view source_;
  const RunLimits& limits_;
  ProgramResult& result_;
  SourcePosition position_;
};

}  // namespace

void run_commands(Engine& engine, std::span<const Command> commands, std::string_view source,
                  const RunLimits& limits, ProgramResult& result) {
  ProgramRunner runner(engine, source, limits, result);
  for (const Command& command : commands) runner.run(command);
}

FunctionId declare_constructor(Engine& engine, Function function) {
  const Schema& schema = engine.database.schema;
  if (!schema.is_equality(function.output)) {
    throw UserError("constructor '" + function.name + "' makes values of sort " +
                    schema.sort(function.output).name +
                    ", which has no classes; use (function …), or a sort of your own");
  }
  function.kind = FunctionKind::Constructor;
  return engine.database.add_function(std::move(function), {.kind = Merge::Kind::Unite});
}

FunctionId declare_relation(Engine& engine, Function function) {
  function.kind = FunctionKind::Relation;
  function.output = engine.database.schema.unit();
  return engine.database.add_function(std::move(function), {.kind = Merge::Kind::MustAgree});
}

FunctionId declare_function(Engine& engine, Function function, Merge merge) {
  function.kind = FunctionKind::Function;
  return engine.database.add_function(std::move(function), std::move(merge));
}

ExtractedTerm extract_value(Engine& engine, Value value, SortId sort) {
  Database& database = engine.database;
  rebuild(database);
  if (!database.is_equality(sort)) return {.text = database.print(value, sort), .cost = 1};
  const Snapshot snapshot = take_snapshot(database);
  const Extraction extraction(snapshot, database.schema);
  const ClassId id = snapshot.class_of(value);
  const uint64_t cost = extraction.cost(id);
  if (cost == Extraction::kNoTerm) {
    throw UserError("class " + database.print(snapshot.value(id), sort) + " of sort " +
                    database.schema.sort(sort).name +
                    " has no finite term of extractable constructors");
  }
  constexpr uint64_t kMostPrinted = 10'000'000;
  if (cost > kMostPrinted) {
    throw UserError("the cheapest term costs " + std::to_string(cost) +
                    ", too much to print as a tree; walk a snapshot instead");
  }
  return {.text = print_term(database, snapshot, extraction, id), .cost = cost};
}

}  // namespace luminal::egraph

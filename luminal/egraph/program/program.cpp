#include "luminal/egraph/program/program.h"

#include "luminal/egraph/database/actions.h"
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/program/program_runner.h"
#include "luminal/egraph/saturate/runner.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace luminal::egraph {

void ProgramRunner::run(const ActionSyntax& action) {
  if (action.kind == ActionSyntax::Kind::Let) {
    const auto [value, value_sort] = evaluate(action.exprs[0]);
    here([&] { engine_.add_global(action.name, value_sort, value); });
    return;
  }
  const Program program = compile_command(engine_.scope(source_), action);
  rebuild_here();
  execute_here(program);
}

ProgramRunner::Evaluated ProgramRunner::evaluate(const Expr& expr) {
  const CompiledExpr compiled = compile_expr(engine_.scope(source_), expr);
  rebuild_here();
  return {execute_here(compiled.program)[compiled.result], compiled.sort};
}

std::vector<Value> ProgramRunner::execute_here(const Program& program) {
  std::vector<Value> registers(program.registers);
  here([&] { execute(database_, program, registers); });
  return registers;
}

void ProgramRunner::rebuild_here() {
  here([&] { rebuild(database_); });
}

Schedule ProgramRunner::schedule(const ScheduleSyntax& syntax) {
  Schedule result{.times = syntax.times};
  switch (syntax.kind) {
    case ScheduleSyntax::Kind::Run:
      result = Schedule::run(ruleset(syntax.ruleset, syntax.position));
      if (!syntax.until.empty()) result.until = condition(syntax.until);
      return result;
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

// A predicate: whether the facts hold when it is called. The database must be rebuilt then.
std::function<bool()> ProgramRunner::condition(const std::vector<Fact>& facts) {
  Query query = compile_query(engine_.scope(source_), facts);
  query.with_subsumed = true;
  const auto matcher = std::make_shared<Matcher>(std::move(query), std::vector<uint32_t>());
  return [matcher, this] {
    Matches matches;
    matcher->find(database_, 0, {.matches = 1}, matches);
    return matches.count > 0;
  };
}

void ProgramRunner::run(const RunCommand& command) {
  const Schedule compiled = schedule(command.schedule);
  RunReport report = here([&] { return egraph::run(engine_, compiled, limits_); });
  if (report.stop != StopReason::Finished) emit(report.summary());
  result_.runs.push_back(std::move(report));
}

void ProgramRunner::run(const CheckCommand& command) {
  rebuild_here();
  if (condition(command.facts)()) return;
  fail(position_, "check failed: nothing matches " +
                      std::string(command.facts.size() == 1 ? "this fact" : "these facts"));
}

void ProgramRunner::run(const PushCommand& command) {
  constexpr uint64_t kMostPushed = 1000;  // each is a copy of the whole engine
  if (command.times > kMostPushed - engine_.pushed.size()) {
    fail(position_, "more than " + std::to_string(kMostPushed) + " states would be pushed");
  }
  const uint64_t most = constant_limit(limits_);
  const uint64_t bytes = database_.bytes() + database_.constants.bytes();
  if (bytes > most / std::max<uint64_t>(1, engine_.pushed.size() + command.times)) {
    fail(position_, "the pushed states would take more than " + std::to_string(most) +
                        " bytes; push fewer, or raise the limit of bytes");
  }
  for (uint64_t i = 0; i < command.times; ++i) {
    auto copy = std::make_shared<const Engine>(engine_);
    engine_.pushed.push_back(std::move(copy));
  }
}

// A pushed engine holds the stack as it was when pushed, so this restores the stack, too.
void ProgramRunner::run(const PopCommand& command) {
  if (command.times > engine_.pushed.size()) {
    fail(position_, "there are " + std::to_string(engine_.pushed.size()) + " states to pop, not " +
                        std::to_string(command.times) + "; (push) first");
  }
  if (command.times == 0) return;
  const std::shared_ptr<const Engine> kept = engine_.pushed[engine_.pushed.size() - command.times];
  engine_ = *kept;
}

// Runs on a copy, so that the effects of commands before the failure are discarded.
void ProgramRunner::run(const FailCommand& command) {
  Engine copy = engine_;
  ProgramResult ignored;
  try {
    ProgramRunner(copy, source_, limits_, files_, open_files_, ignored).run(command.body);
  } catch (const UserError&) {
    return;
  }
  fail(position_, "the command was expected to fail, but didn't");
}

void run_commands(Engine& engine, std::span<const Command> commands, std::string_view source,
                  const RunLimits& limits, const Files& files, ProgramResult& result) {
  ProgramRunner(engine, source, limits, files, {std::string(source)}, result).run(commands);
}

}  // namespace luminal::egraph

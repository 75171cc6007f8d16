// Builds a ProofProgram from an engine: rules, merges, names and what commands stated.
#include "luminal/base/check.h"
#include "luminal/egraph/explain/explain.h"
#include "luminal/egraph/proof/proof_checker.h"

#include <algorithm>
#include <set>
#include <utility>

namespace luminal::egraph {

ProofVerdict check(Engine& engine, const Explanation& explanation) {
  LUMINAL_CHECK(engine.database.proofs.has_value(), "an explanation without recorded proofs");
  Database& database = engine.database;
  const ProofLog& log = *database.proofs;
  ProofProgram program{.schema = database.schema,
                       .constants = database.constants,
                       .rules = {},
                       .merges = {},
                       .globals = {},
                       .is_axiom = {},
                       .is_name = {},
                       .ids = database.ids().size()};
  for (const Rule& rule : engine.rules) {
    program.rules.emplace(rule.name, ProofProgram::Rule{rule.syntax.get(), rule.known_globals});
  }
  for (uint32_t f = 0; f < database.functions(); ++f) {
    const Merge& merge = database.merge(FunctionId{f});
    if (merge.syntax) program.merges.emplace(f, merge.syntax.get());
  }
  for (const auto& [name, index] : engine.globals) {
    program.globals.emplace(
        name, ProofProgram::Global{index, log.global(index), database.globals[index].sort});
  }
  const auto is_stated = [&](uint32_t fact, FunctionId function, std::span<const Value> arguments) {
    return log.fact(fact).function == function.value &&
           std::ranges::equal(log.values(fact, arguments.size()), arguments);
  };
  std::set<std::pair<uint32_t, uint32_t>> stated;
  for (const ProofLog::Union& one : log.unions()) {
    if (one.cause == ProofLog::kCommandCause) stated.emplace(one.a, one.b);
  }
  program.is_axiom = [&](const ProofStep& step) {
    if (step.kind == ProofStep::Kind::Union) {
      return stated.contains({step.left.value, step.right.value});
    }
    return step.fact < log.facts() && log.fact(step.fact).cause == ProofLog::kCommandCause &&
           is_stated(step.fact, step.function, step.arguments) &&
           log.values(step.fact, step.arguments.size() + 1).back() == step.value;
  };
  program.is_name = [&](const ProofTerm& term) {
    if (term.id.index() >= database.ids().size()) return true;
    return is_stated(log.definition(term.id), term.function, term.arguments);
  };
  return check(program, explanation);
}

}  // namespace luminal::egraph

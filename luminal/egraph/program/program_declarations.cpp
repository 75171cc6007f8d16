// Declarations: resolves names, and reports clashes and sort errors with their position.
#include "luminal/egraph/program/program_runner.h"

#include <memory>
#include <utility>

namespace luminal::egraph {

SortId ProgramRunner::sort(const NameAt& name) const {
  const auto found = database_.schema.find_sort(name.name);
  if (found) return *found;
  if (name.name == "BigRat" || name.name == "Rational") {
    fail(name.position, "this engine has no sort '" + name.name + "'; use i64, f64 or BigInt");
  }
  fail(name.position, "there is no sort '" + name.name + "'; declare it first");
}

FunctionId ProgramRunner::function(const NameAt& name) const {
  const auto found = database_.schema.find_function(name.name);
  if (!found) fail(name.position, "there is no function '" + name.name + "'; declare it first");
  return *found;
}

RulesetId ProgramRunner::ruleset(const std::string& name, SourcePosition position) const {
  const auto found = engine_.ruleset_names.find(name);
  if (found != engine_.ruleset_names.end()) return found->second;
  fail(position, "there is no ruleset '" + name + "'; declare it with (ruleset " + name + ")");
}

void ProgramRunner::run(const SortDeclaration& declaration) {
  if (declaration.container) return declare_container(declaration);
  here([&] {
    database_.schema.add(Sort{.name = declaration.name, .kind = SortKind::Equality, .print = {}});
  });
}

void ProgramRunner::declare_container(const SortDeclaration& declaration) {
  const NameAt& name = *declaration.container;
  const ContainerKind kind = name.name == "Vec"   ? ContainerKind::Vec
                             : name.name == "Set" ? ContainerKind::Set
                                                  : ContainerKind::Map;
  const size_t wanted = kind == ContainerKind::Map ? 2 : 1;
  if (wanted != declaration.elements.size()) {
    fail(name.position, "'" + name.name + "' is over " + std::to_string(wanted) +
                            (wanted == 1 ? " sort" : " sorts") + ", found " +
                            std::to_string(declaration.elements.size()));
  }
  std::vector<SortId> elements;
  for (const NameAt& element : declaration.elements) {
    elements.push_back(sort(element));
    constexpr int kMostDepth = 64;
    if (database_.constants.containers.depth(elements.back()) >= kMostDepth) {
      fail(element.position,
           "containers are more than " + std::to_string(kMostDepth) + " levels deep");
    }
  }
  here([&] { database_.add_container_sort(declaration.name, kind, std::move(elements)); });
}

void ProgramRunner::run(const FunctionDeclaration& declaration) {
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

void ProgramRunner::run(const RulesetDeclaration& declaration) {
  std::vector<std::string> parts;
  for (const NameAt& part : declaration.parts) parts.push_back(part.name);
  here([&] {
    const RulesetId id = engine_.add_ruleset(declaration.name);
    engine_.rulesets[id.index()].is_combined = declaration.is_combined;
    engine_.rulesets[id.index()].parts = std::move(parts);
  });
}

void ProgramRunner::run(const RuleDeclaration& declaration) {
  const RulesetId into = ruleset(declaration.ruleset, position_);
  if (engine_.rulesets[into.index()].is_combined) {
    fail(position_, "ruleset '" + declaration.ruleset +
                        "' is combined of others; add the rule to one of those");
  }
  const Scope scope = engine_.scope(source_);
  CompiledRule compiled =
      compile_rule(scope, declaration.facts, declaration.actions, declaration.naive);
  std::string name = declaration.name;
  if (name.empty()) name = unique_rule_name();
  Rule rule{.name = std::move(name),
            .ruleset = into,
            .matcher = Matcher(std::move(compiled.query), std::move(compiled.kept)),
            .actions = std::move(compiled.program),
            .naive = declaration.naive,
            .variables = std::move(compiled.variables),
            .syntax = std::make_shared<const RuleDeclaration>(declaration)};
  here([&] { engine_.add_rule(std::move(rule)); });
}

// An unnamed rule is named by its position.
std::string ProgramRunner::unique_rule_name() const {
  const std::string place = std::string(source_) + ":" + std::to_string(position_.line) + ":" +
                            std::to_string(position_.column);
  std::string name = place;
  for (int i = 2; engine_.rule_names.contains(name); ++i) name = place + "#" + std::to_string(i);
  return name;
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

}  // namespace luminal::egraph

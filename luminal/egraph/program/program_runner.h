// ProgramRunner: runs one command after another, one source file per part of the language.
#pragma once

#include "luminal/base/errors.h"
#include "luminal/egraph/program/program.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::egraph {

class ProgramRunner {
 public:
  ProgramRunner(Engine& engine, std::string_view source, const RunLimits& limits,
                const Files& files, std::vector<std::string> open_files, ProgramResult& result)
      : engine_(engine),
        database_(engine.database),
        source_(source),
        limits_(limits),
        files_(files),
        open_files_(std::move(open_files)),
        result_(result) {}

  void run(std::span<const Command> commands) {
    for (const Command& command : commands) {
      position_ = command.position;
      std::visit([this](const auto& body) { run(body); }, command.body);
    }
  }

 private:
  struct Evaluated {
    Value value;
    SortId sort;
  };

  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(source_, position, message);
  }
  // Adds the source position to an error that has none.
  template <typename F>
  auto here(F f) const {
    try {
      return f();
    } catch (const UserError& error) {
      fail(position_, error.what());
    }
  }

  // program_declarations.cpp
  void run(const SortDeclaration& declaration);
  void run(const FunctionDeclaration& declaration);
  void run(const RulesetDeclaration& declaration);
  void run(const RuleDeclaration& declaration);
  void declare_container(const SortDeclaration& declaration);
  SortId sort(const NameAt& name) const;
  FunctionId function(const NameAt& name) const;
  RulesetId ruleset(const std::string& name, SourcePosition position) const;
  std::string unique_rule_name() const;

  // program.cpp
  void run(const ActionSyntax& action);
  void run(const RunCommand& command);
  void run(const CheckCommand& command);
  void run(const PushCommand& command);
  void run(const PopCommand& command);
  void run(const FailCommand& command);
  Evaluated evaluate(const Expr& expr);
  std::vector<Value> execute_here(const Program& program);
  void rebuild_here();
  Schedule schedule(const ScheduleSyntax& syntax);
  std::function<bool()> condition(const std::vector<Fact>& facts);

  // program_output.cpp
  void run(const ExtractCommand& command);
  void run(const PrintSizeCommand& command);
  void run(const PrintFunctionCommand& command);
  void run(const PrintStatsCommand& command);
  void run(const OutputCommand& command);
  void print(std::string text, const std::string& file);
  void emit(std::string text);
  void append_to_file(const std::string& path, std::string_view text) const;

  // program_files.cpp
  void run(const IncludeCommand& command);
  void run(const InputCommand& command);
  std::string read_file(const std::string& path) const;
  std::vector<Value> input_row(const Function& function, std::string_view line,
                               const std::string& place);

  Engine& engine_;
  Database& database_;
  std::string_view source_;
  const RunLimits& limits_;
  const Files& files_;
  std::vector<std::string> open_files_;  // the include stack, outermost first, this file last
  ProgramResult& result_;
  SourcePosition position_;
};

}  // namespace luminal::egraph

// The syntax tree of the language: what the parser makes and the compiler of rules reads.
#pragma once

#include "luminal/base/sexpr.h"
#include "luminal/egraph/schema.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace luminal::egraph {

using base::SourcePosition;

struct Expr {
  enum class Kind : uint8_t { Variable, I64, F64, String, Bool, Unit, Call };

  Kind kind = Kind::Unit;
  SourcePosition position;
  std::string name = {};  // of a variable or of what is called; the text of a string
  int64_t i64 = 0;
  double f64 = 0;
  bool boolean = false;
  std::vector<Expr> args = {};
};

// One side: it holds (the row is there, the primitive has a result). Several: they are equal.
struct Fact {
  SourcePosition position;
  std::vector<Expr> sides;
};

struct ActionSyntax {
  enum class Kind : uint8_t { Let, Set, Union, Delete, Subsume, Panic, Eval };

  Kind kind = Kind::Eval;
  SourcePosition position;
  std::string name = {};  // of Let; the message of Panic
  std::vector<Expr> exprs = {};
};

struct NameAt {
  std::string name;
  SourcePosition position;
};

struct SortDeclaration {
  std::string name;
};

struct FunctionDeclaration {
  std::string name;
  FunctionKind kind = FunctionKind::Constructor;
  std::vector<NameAt> inputs;
  NameAt output;  // unused for a relation
  uint64_t cost = 1;
  bool extractable = true;
  std::optional<Expr> merge = {};  // of a Function; none means :no-merge
};

struct RulesetDeclaration {
  std::string name;
};

struct RuleDeclaration {
  std::string name;     // empty for none
  std::string ruleset;  // empty for the default one
  std::vector<Fact> facts;
  std::vector<ActionSyntax> actions;
};

struct ScheduleSyntax {
  enum class Kind : uint8_t { Run, Saturate, Sequence, Repeat };

  Kind kind = Kind::Run;
  SourcePosition position;
  std::string ruleset = {};  // of Run
  uint64_t times = 1;        // of Repeat
  std::vector<ScheduleSyntax> children = {};
};

struct RunCommand {
  ScheduleSyntax schedule;
};
struct CheckCommand {
  std::vector<Fact> facts;
};
struct ExtractCommand {
  Expr expr;
};
struct PrintSizeCommand {
  std::string function;  // empty for all
};
struct Command;
// Its commands must end in an error.
struct FailCommand {
  std::vector<Command> body;
};

struct Command {
  SourcePosition position;
  std::variant<SortDeclaration, FunctionDeclaration, RulesetDeclaration, RuleDeclaration,
               ActionSyntax, RunCommand, CheckCommand, ExtractCommand, PrintSizeCommand,
               FailCommand>
      body;
};

}  // namespace luminal::egraph

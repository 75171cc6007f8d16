// The syntax tree of the language, from the parser to the rule compiler.
#pragma once

#include "luminal/base/text/sexpr.h"
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
  std::string name = {};  // of a variable or of the callee; the contents of a string
  int64_t i64 = 0;
  double f64 = 0;
  bool boolean = false;
  std::vector<Expr> args = {};
};

// One side: it holds (the row exists, the primitive has a result). Several: they are equal.
struct Fact {
  SourcePosition position;
  std::vector<Expr> sides;
};

struct ActionSyntax {
  enum class Kind : uint8_t { Let, Set, Union, Delete, Subsume, Panic, Eval };

  Kind kind = Kind::Eval;
  SourcePosition position;
  std::string name = {};  // Let; the message of Panic
  std::vector<Expr> exprs = {};
};

struct NameAt {
  std::string name;
  SourcePosition position;
};

struct SortDeclaration {
  std::string name;
  std::optional<NameAt> container = {};  // Vec, Set or Map; none for an equality sort
  std::vector<NameAt> elements = {};     // the element sorts
};

struct FunctionDeclaration {
  std::string name;
  FunctionKind kind = FunctionKind::Constructor;
  std::vector<NameAt> inputs;
  NameAt output;  // unused by a relation
  uint64_t cost = 1;
  bool extractable = true;
  std::optional<Expr> merge = {};  // Function; none means :no-merge
};

struct RulesetDeclaration {
  std::string name;
  bool is_combined = false;
  std::vector<NameAt> parts = {};  // of a combined ruleset; may be declared later
};

struct RuleDeclaration {
  std::string name;     // empty if unnamed
  std::string ruleset;  // empty for the default ruleset
  std::vector<Fact> facts;
  std::vector<ActionSyntax> actions;
  bool naive = false;  // matches everything each time, so its actions may look up functions
};

struct ScheduleSyntax {
  enum class Kind : uint8_t { Run, Saturate, Sequence, Repeat };

  Kind kind = Kind::Run;
  SourcePosition position;
  std::string ruleset = {};      // Run
  std::vector<Fact> until = {};  // Run: skipped if these hold
  uint64_t times = 1;            // Repeat
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
  std::optional<Expr> variants = {};  // how many; none or 0 for the best one alone
};
struct PrintSizeCommand {
  std::string function;  // empty for all
};
struct PrintFunctionCommand {
  NameAt function;
  std::optional<uint64_t> rows = {};
  std::string file = {};  // empty: the program's outputs
  bool as_csv = false;
};
struct PrintStatsCommand {
  std::string file = {};  // empty: the program's outputs
};
struct PushCommand {
  uint64_t times = 1;
};
struct PopCommand {
  uint64_t times = 1;
};
struct IncludeCommand {
  std::string file;
};
struct InputCommand {
  NameAt function;
  std::string file;
};
struct OutputCommand {
  std::string file;
  std::vector<Expr> exprs;
};
struct Command;
// Its commands must fail.
struct FailCommand {
  std::vector<Command> body;
};

struct Command {
  SourcePosition position;
  std::variant<SortDeclaration, FunctionDeclaration, RulesetDeclaration, RuleDeclaration,
               ActionSyntax, RunCommand, CheckCommand, ExtractCommand, PrintSizeCommand,
               PrintFunctionCommand, PrintStatsCommand, PushCommand, PopCommand, IncludeCommand,
               InputCommand, OutputCommand, FailCommand>
      body;
};

}  // namespace luminal::egraph

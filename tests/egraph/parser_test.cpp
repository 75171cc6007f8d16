#include "luminal/egraph/language/parser.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace luminal::egraph {
namespace {

// What running a text says when it fails.
std::string program_error(const std::string& text) {
  EGraph egraph;
  try {
    egraph.run_program(text, "t.egg");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

struct ParserCase {
  const char* text;
  const char* message;
};

TEST(Parser, ErrorsNameThePlaceAndTheWayOut) {
  const ParserCase cases[] = {
      {"(datatype T (A)", "t.egg:1:1: '(' is never closed; the text ends first"},
      {"x", "t.egg:1:1: expected a command such as (rewrite …)"},
      {"(sort)", "t.egg:1:1: expected (sort Name), or (sort Name (Vec Sort)) for a container"},
      {"(sort V ())",
       "t.egg:1:9: expected (sort Name (Vec Sort)), (sort Name (Set Sort)) or (sort Name (Map Sort "
       "Sort))"},
      {"\n  (push x)", "t.egg:2:9: expected how often to push, a natural number, found x"},
      {"(pop 1 2)", "t.egg:1:1: expected (pop [times])"},
      {"(include file)", "t.egg:1:10: expected a path in quotes, found file"},
      {"(input r)", "t.egg:1:1: expected (input function \"path\")"},
      {"(output \"f\")", "t.egg:1:1: expected (output \"path\" value …)"},
      {"(extract)", "t.egg:1:1: expected (extract value [variants])"},
      {"(print-function f 1 :mode xml)", "t.egg:1:27: ':mode' is default or csv, found xml"},
      {"(print-function f x)",
       "t.egg:1:19: expected how many rows to print, a natural number, found x"},
      {"(unstable-combined-ruleset)",
       "t.egg:1:1: expected (unstable-combined-ruleset name ruleset …)"},
      {"(prove (r 1))",
       "t.egg:1:1: 'prove' isn't supported: ask for a proof from outside the program: "
       "`luminal egg FILE --explain 'TERM = TERM'`"},
      {"(function f (i64) i64)",
       "t.egg:1:1: say how two values merge: expected (function name (Sort …) Sort :merge "
       "expression) or … :no-merge)"},
      {"(function f (i64) i64 :merge old :no-merge)",
       "t.egg:1:1: say how two values merge: expected (function name (Sort …) Sort :merge "
       "expression) or … :no-merge)"},
      {"(relation r (i64)) (rule ((r x)) ((r x)) :lazy)",
       "t.egg:1:42: ':lazy' is not an option of 'rule'; expected (rule (fact …) (action …) "
       "[:ruleset r] [:name \"n\"] [:naive])"},
      {"(relation r (i64)) (rule ((r x)) ((r x)) :name \"a\" :name \"b\")",
       "t.egg:1:52: ':name' is given twice"},
      {"(relation r (i64)) (rule ((r x)) ((r x)) :name a)",
       "t.egg:1:48: expected a name in quotes, found a"},
      {"(rewrite x x)",
       "t.egg:1:10: a rewrite starts from a call, found x: a bare variable would match every "
       "class; say with :when what it is"},
      {"(check x)", "t.egg:1:8: a fact is a call or (= a b), found x"},
      {"(check (= 1))", "t.egg:1:8: '=' compares two or more, as in (= a (f b))"},
      {"(relation r (i64)) (r 99999999999999999999)",
       "t.egg:1:23: 99999999999999999999 doesn't fit 64 bits; write a float, "
       "99999999999999999999.0, or (from-string \"99999999999999999999\") for a BigInt"},
      {"(relation r (i64)) (r 12ab)",
       "t.egg:1:23: '12ab' is not a number; names don't start with a digit"},
      {"(run-schedule (loop (run)))",
       "t.egg:1:15: expected a schedule: a ruleset, (run …), (saturate …), (seq …) or "
       "(repeat n …)"},
      {"(run 2 3)", "t.egg:1:8: expected (run [ruleset] [times] [:until fact …])"},
      {"(run-schedule (repeat x (run)))",
       "t.egg:1:23: expected how often to repeat, a natural number, found x"},
      {"(set f 1)", "t.egg:1:6: set needs a call such as (f x), found f"},
      {"(subsume x)", "t.egg:1:10: subsume needs a call such as (f x), found x"},
      {"(birewrite (f x) (g x) :subsume)",
       "t.egg:1:1: ':subsume' would remove both sides of a birewrite; write two rewrites"},
      {"(panic oops)", "t.egg:1:8: expected a message in quotes, found oops"},
      {"(run :until)",
       "t.egg:1:1: ':until' needs a fact; expected (run [ruleset] [times] [:until fact …])"},
  };
  for (const ParserCase& c : cases) EXPECT_EQ(program_error(c.text), c.message) << c.text;
}

TEST(Parser, DatatypesBecomeSortsAndConstructors) {
  const std::vector<Command> commands =
      parse("(datatype* (A (MkA i64 B)) (B (MkB A :cost 7 :unextractable)))", "t");
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(std::get<SortDeclaration>(commands[0].body).name, "A");
  EXPECT_EQ(std::get<SortDeclaration>(commands[1].body).name, "B");
  const auto& make_b = std::get<FunctionDeclaration>(commands[3].body);
  EXPECT_EQ(make_b.name, "MkB");
  EXPECT_EQ(make_b.output.name, "B");
  EXPECT_EQ(make_b.cost, 7u);
  EXPECT_FALSE(make_b.extractable);
}

TEST(Parser, ABirewriteIsTwoRulesWithTwoNames) {
  const std::vector<Command> commands = parse("(birewrite (f x) (g x) :name \"fg\")", "t");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(std::get<RuleDeclaration>(commands[0].body).name, "fg=>");
  EXPECT_EQ(std::get<RuleDeclaration>(commands[1].body).name, "fg<=");
}

TEST(Parser, ASubsumingRewriteTakesItsLeftSideAwayLast) {
  const std::vector<Command> commands = parse("(rewrite (f x) (g x) :subsume)", "t");
  ASSERT_EQ(commands.size(), 1u);
  const auto& actions = std::get<RuleDeclaration>(commands[0].body).actions;
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0].kind, ActionSyntax::Kind::Union);
  EXPECT_EQ(actions[1].kind, ActionSyntax::Kind::Subsume);
  EXPECT_EQ(actions[1].exprs[0].name, "f");
}

TEST(Parser, LiteralsOfAllSorts) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64 f64 String bool Unit))
                        (r -3 -1.5e2 "a\"b" true ()) (r 4 inf "" false ()) (r 5 NaN "" false ())
                        (r 6 2. "" false ()) (r +7 -.5 "" false ()) (r 8 .25e1 "" false ()))",
                     "t");
  EXPECT_EQ(egraph.dump(),
            "(r -3 -150.0 \"a\\\"b\" true ())  ; initial\n"
            "(r 4 inf \"\" false ())  ; initial\n"
            "(r 5 NaN \"\" false ())  ; initial\n"
            "(r 6 2.0 \"\" false ())  ; initial\n"
            "(r 7 -0.5 \"\" false ())  ; initial\n"
            "(r 8 2.5 \"\" false ())  ; initial\n");
}

}  // namespace
}  // namespace luminal::egraph

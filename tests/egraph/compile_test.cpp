#include "luminal/egraph/compile/compile.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

constexpr const char* kDeclarations =
    "(datatype T (A) (N i64) (G T T)) (relation r (i64)) (function f (T) i64 :no-merge)\n";

std::string rule_error(const std::string& text) {
  EGraph egraph;
  try {
    egraph.run_program(kDeclarations + text, "t.egg");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

struct RuleCase {
  const char* text;
  const char* message;
};

TEST(Compile, ErrorsInRulesNameThePlaceAndTheWayOut) {
  const RuleCase cases[] = {
      {"(rule ((q x)) ())",
       "t.egg:2:8: 'q' is neither a function nor a primitive; declare it before this rule"},
      {"(rule ((G x)) ())", "t.egg:2:8: 'G' takes 2 arguments, found 1; it is declared as (G T T)"},
      {"(rule ((r x) (G x y)) ())", "t.egg:2:17: 'x' is of sort i64 where T is expected"},
      {"(rule ((r x) (< y x)) ())",
       "t.egg:2:17: nothing binds 'y'; use it in a fact about a function, or as the result of a "
       "primitive whose arguments are bound"},
      {"(rule ((= x y)) ())",
       "t.egg:2:11: nothing binds 'x'; use it in a fact about a function, or as the result of a "
       "primitive whose arguments are bound"},
      {"(rule ((r x) (= y (+ x 0.5))) ())",
       "t.egg:2:19: no primitive takes (+ i64 f64); known: (+ i64 i64), (+ f64 f64), "
       "(+ String …) of sort String, (+ BigInt BigInt)"},
      {"(rule ((= x (+ y z))) ())",
       "t.egg:2:13: the sorts of (+ ? ?) aren't known well enough to choose among (+ i64 i64), "
       "(+ f64 f64), (+ String …) of sort String, (+ BigInt BigInt); bind a variable in a fact "
       "about a function"},
      {"(rule ((r x) (bool-< x 1)) ())",
       "t.egg:2:14: a bool is not a fact; write (= true (bool-< …))"},
      {"(rule ((= (A) 3)) ())", "t.egg:2:15: this is of sort T where i64 is expected"},
      {"(rule ((r x)) ((r y)))",
       "t.egg:2:19: 'y' isn't bound; bind it in the query or with (let y …)"},
      {"(rule ((r x)) ((N 1.0)))", "t.egg:2:19: this is of sort f64 where i64 is expected"},
      {"(rule ((r x)) ((let x 1)))", "t.egg:2:16: 'x' is bound already; choose another name"},
      {"(rule ((N x)) ((r (f (N x)))))",
       "t.egg:2:19: function 'f' can't be looked up in an action; bind its value in the query: "
       "(= x (f …))"},
      {"(rule ((r x)) ((set (N x) (A))))",
       "t.egg:2:16: 'N' is a constructor; use (union (N …) value) instead of set"},
      {"(rule ((N x)) ((set (r x) ())))",
       "t.egg:2:16: 'r' is a relation; write (r …) to make it hold"},
      {"(rule ((r x)) ((union x 2)))",
       "t.egg:2:16: values of sort i64 can't be united; only terms of a sort or datatype can"},
      {"(rewrite (G x y) (N 1) :when ((= x 1)))",
       "t.egg:2:36: 'x' is of sort T where i64 is expected"},
      {"(rewrite (N x) x)", "t.egg:2:16: 'x' is of sort i64 where T is expected"},
      {"(rewrite (N x) (N z))",
       "t.egg:2:19: 'z' isn't bound; bind it in the query or with (let z …)"},
      {"(rule ((r x)) () :ruleset none)",
       "t.egg:2:1: there is no ruleset 'none'; declare it with (ruleset none)"},
      {"(rule ((r x)) () :name \"n\") (rule ((r y)) () :name \"n\")",
       "t.egg:2:29: rule 'n' is there already; choose another :name"},
      {"(function g (i64) i64 :merge (+ old x))",
       "t.egg:2:37: 'x' isn't bound; a merge knows 'old' and 'new'"},
      {"(function g (i64) String :merge (min 1 2))",
       "t.egg:2:33: this is of sort i64 where String is expected"},
      {"(constructor c (i64) i64)",
       "t.egg:2:1: constructor 'c' makes values of sort i64, which has no classes; use "
       "(function …), or a sort of your own"},
      {"(constructor c (X) T)", "t.egg:2:17: there is no sort 'X'; declare it first"},
      {"(relation b (BigRat))",
       "t.egg:2:14: this engine has no sort 'BigRat'; use i64, f64 or BigInt"},
      {"(sort T)", "t.egg:2:1: sort 'T' is declared already; choose another name"},
      {"(relation A (i64))", "t.egg:2:1: 'A' is declared already; choose another name"},
      {"(relation min (i64))", "t.egg:2:1: 'min' is a primitive already; choose another name"},
      {"(let a (A)) (let a (A))", "t.egg:2:13: 'a' is bound already; choose another name"},
      {"(let f (A))", "t.egg:2:1: 'f' is a function already; choose another name"},
      {"(rule ((r x)) ((let A x)))", "t.egg:2:16: 'A' is a function already; choose another name"},
      {"(let x (vec-of 1))",
       "t.egg:2:8: 'vec-of' is neither a function nor a primitive; declare it before its use"},
      {"(rule ((r x) (= y (!= x 1.0))) ())",
       "t.egg:2:19: 'x' is of sort i64 where f64 is expected"},
      {"(rule ((r x)) ((r (ordering-max x 1.0))))",
       "t.egg:2:19: 'x' is of sort i64 where f64 is expected"},
      {"(rule ((r x)) ((r (+ \"a\" \"b\"))))",
       "t.egg:2:19: this is of sort String where i64 is expected"},
      {"(f (A))", "t.egg:2:1: (f #0) has no value; set it first"},
      {"(r (/ 1 0))",
       "t.egg:2:1: (/ 1 0) has no result; compute it in the query, where no result means no "
       "match"},
      {"(rule ((r x)) ((r (/ 1 x))) :name \"inverse\") (r 0) (run 1)",
       "t.egg:2:52: (/ 1 0) has no result (rule 'inverse'); compute it in the query, where no "
       "result means no match"},
      {"(rule ((r x)) ((panic \"bad r\")) :name \"p\") (r 0) (run 1)",
       "t.egg:2:50: panic: bad r (rule 'p')"},
      {"(rule ((r x)) ((subsume (f (N x)))))",
       "t.egg:2:16: 'f' is a function, whose values can't be subsumed; only constructors and "
       "relations can: delete it, or set another value"},
      {"(check (r 1) (r 2))", "t.egg:2:1: check failed: nothing matches these facts"},
      {"(fail (check (= 1 1)))", "t.egg:2:1: the command was expected to fail, but didn't"},
      {"(run nothing 1)",
       "t.egg:2:1: there is no ruleset 'nothing'; declare it with (ruleset nothing)"},
      {"(print-size q)", "t.egg:2:1: there is no function 'q'; declare it first"},
  };
  for (const RuleCase& c : cases) EXPECT_EQ(rule_error(c.text), c.message) << c.text;
}

TEST(Compile, SortsFlowThroughPrimitivesBothWays) {
  EGraph egraph;
  egraph.run_program(R"((relation r (f64)) (relation out (f64))
      (rule ((= z (* y y)) (= y (+ x 1.0)) (r x) (= w z)) ((out w)))
      (r 2.0) (run 1) (check (out 9.0)))",
                     "t");
}

TEST(Compile, EqualConstantsAndConstantPatternsAreChecked) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64)) (relation out (i64))
      (rule ((= 1 2)) ((out 1)))
      (rule ((= 2 2)) ((out 2)))
      (rule ((= x 5) (= x 5) (r x)) ((out x)))
      (rule ((= x 5) (= x 6) (r x)) ((out 6)))
      (rule ((r x) (= x (+ 2 3))) ((out 7)))
      (rule () ((out 8)))
      (r 5) (run 3))",
                     "t");
  EXPECT_EQ(egraph.run_program("(print-size out)", "t").outputs.at(0), "4");
  egraph.run_program("(check (out 2)) (check (out 5)) (check (out 7)) (check (out 8))", "t");
}

TEST(Compile, WildcardsAreVariablesOfTheirOwn) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64 i64)) (relation out (i64))
      (rule ((r _ _)) ((out 1))) (r 1 2) (run 1) (check (out 1)))",
                     "t");
}

TEST(Compile, AFailingCommandLeavesNothingBehind) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64)) (rule ((r x) (> x 0)) ((r (- x 1))))
      (rule ((r 0)) ((panic "zero"))) (r 2)
      (fail (run 5)))",
                     "t");
  EXPECT_EQ(egraph.size(egraph.function("r")), 1u);
}

}  // namespace
}  // namespace luminal::egraph

#include "luminal/egraph/primitives/primitives.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

// What an expression is worth, or that it has no result.
std::string value_of(const std::string& expr) {
  EGraph egraph;
  try {
    return egraph.run_program("(extract " + expr + ")", "t").outputs.at(0);
  } catch (const UserError& error) {
    return std::string(error.what()).find("has no result") != std::string::npos ? "none"
                                                                                : error.what();
  }
}

struct Case {
  const char* expr;
  const char* value;
};

TEST(Primitives, GiveTheseValues) {
  const Case cases[] = {
      {"(+ 1 2)", "3"},
      {"(+ 9223372036854775807 1)", "none"},
      {"(- -9223372036854775808 1)", "none"},
      {"(* 4611686018427387904 2)", "none"},
      {"(/ -7 2)", "-3"},
      {"(% -7 2)", "-1"},
      {"(/ 1 0)", "none"},
      {"(% 1 0)", "none"},
      {"(/ -9223372036854775808 -1)", "none"},
      {"(% -9223372036854775808 -1)", "none"},
      {"(<< 1 62)", "4611686018427387904"},
      {"(<< 1 64)", "none"},
      {"(>> -8 1)", "-4"},
      {"(>> 1 -1)", "none"},
      {"(& 12 10)", "8"},
      {"(| 12 10)", "14"},
      {"(^ 12 10)", "6"},
      {"(not-i64 3)", "-4"},
      {"(log2 9)", "3"},
      {"(log2 0)", "none"},
      {"(abs -9223372036854775808)", "none"},
      {"(min 3 -4)", "-4"},
      {"(max 3 -4)", "3"},
      {"(+ 0.5 0.25)", "0.75"},
      {"(/ 1.0 0.0)", "none"},
      {"(% 7.5 2.0)", "1.5"},
      {"(^ 2.0 10.0)", "1024.0"},
      {"(max 0.5 2.0)", "2.0"},
      {"(max 0.5 NaN)", "NaN"},
      {"(min NaN 0.5)", "0.5"},
      {"(< 1.0 NaN)", "()"},
      {"(>= NaN NaN)", "()"},
      {"(neg 1.5)", "-1.5"},
      {"(abs -1.5)", "1.5"},
      {"(to-f64 3)", "3.0"},
      {"(to-i64 -3.9)", "-3"},
      {"(to-i64 1e300)", "9223372036854775807"},
      {"(to-i64 NaN)", "0"},
      {"(to-string 12)", "\"12\""},
      {"(to-string 1.0)", "\"1.0\""},
      {"(to-string 1e16)", "\"1e16\""},
      {"(to-string -1.5e-7)", "\"-1.5e-7\""},
      {"(to-string 0.00001)", "\"1e-5\""},
      {"(to-string (neg inf))", "\"-inf\""},
      {"(+ \"a\" \"b\")", "\"ab\""},
      {"(+ \"a\" \"b\" \"c\")", "\"abc\""},
      {"(replace \"aXbX\" \"X\" \"yy\")", "\"ayybyy\""},
      {"(replace \"ab\" \"\" \"-\")", "\"-a-b-\""},
      {"(count-matches \"aaaa\" \"aa\")", "2"},
      {"(count-matches \"héé\" \"\")", "4"},
      {"(value-eq 1 2)", "none"},
      {"(ordering-min 1 1)", "1"},
      {"1e25", "10000000000000000000000000.0"},
      {"1e-7", "0.0000001"},
      {"(bigint -7)", "(from-string \"-7\")"},
      {"(/ (bigint -7) (bigint 2))", "(from-string \"-3\")"},
      {"(/ (bigint 7) (bigint 0))", "none"},
      {"(<< (bigint 1) 70)", "(from-string \"1180591620717411303424\")"},
      {"(<< (bigint 1) -1)", "none"},
      {"(<< (bigint 1) 9223372036854775807)", "none"},
      {"(from-string \"1_000\")", "(from-string \"1000\")"},
      {"(from-string \"x\")", "none"},
      {"(bits (bigint -8))", "(from-string \"4\")"},
      {"(< 1 2)", "()"},
      {"(< 2 1)", "none"},
      {"(<= 2.0 2.0)", "()"},
      {"(!= \"a\" \"b\")", "()"},
      {"(!= 1 1)", "none"},
      {"(bool-< 2 1)", "false"},
      {"(bool-= 2 2)", "true"},
      {"(and true (or false true))", "true"},
      {"(xor true true)", "false"},
      {"(=> true false)", "false"},
      {"(not false)", "true"},
  };
  for (const Case& c : cases) EXPECT_EQ(value_of(c.expr), c.value) << c.expr;
}

TEST(Primitives, NaNsAreOneValueAndSoAreZeros) {
  EGraph egraph;
  egraph.run_program("(relation r (f64)) (r NaN) (r (- inf inf)) (r 0.0) (r (* -1.0 0.0))", "t");
  EXPECT_EQ(egraph.size(egraph.function("r")), 2u);
}

}  // namespace
}  // namespace luminal::egraph

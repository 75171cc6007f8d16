// Facts about single simplifications, printing and reading; expr_random_test.cpp has the rest.
#include "luminal/shape/expr.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "luminal/base/errors.h"
#include "tests/shape/print_expr.h"
#include "tests/shape/variables.h"

namespace luminal {
namespace {

const int64_t kMin = INT64_MIN, kMax = INT64_MAX;

Expr any(std::string_view name) { return Expr::var(name, kMin, kMax); }
Expr i(int axis, Expr extent) { return Expr::index(axis, extent); }

ParseScope scope_of(std::vector<Expr> extents) { return {.variables = {}, .extents = extents}; }

TEST(Expr, DefaultIsZero) { EXPECT_EQ(Expr(), Expr(0)); }

TEST(Expr, EqualExpressionsAreTheSameNode) {
  EXPECT_EQ(s() + t(), t() + s());
  EXPECT_EQ((s() + 1) * 2, s() * 2 + 2);
  EXPECT_EQ((s() + t()) * t(), s() * t() + t() * t());
  EXPECT_EQ(s() - s(), Expr(0));
  EXPECT_EQ(Expr(100000) * 100000, Expr(10000000000));
  EXPECT_NE(s(), t());
}

TEST(Expr, LongChainsAreReadInTime) {
  const auto chain = [](std::string_view between, int n, auto item) {
    std::string text;
    for (int k = 0; k < n; ++k) text += (k == 0 ? "" : std::string(between)) + item(k);
    return text;
  };
  const ParseScope scope = scope_of({100, 100, 100});
  const auto start = std::chrono::steady_clock::now();
  const Expr all = parse_expr(chain(" and ", 2000,
                                    [](int k) {
                                      return "i0 + " + std::to_string(k) + " * i1 >= i2 * " +
                                             std::to_string(k + 1);
                                    }),
                              scope);
  EXPECT_EQ(all.kind(), ExprKind::And);
  EXPECT_GT(all.operands().size(), 1000u);
  EXPECT_EQ(parse_expr(chain(" and ", 2000, [](int k) { return "i0 < " + std::to_string(k + 1); }),
                       scope),
            i(0, 100) < 1);
  EXPECT_EQ(parse_expr("i0 < 5 or i1 < 3 or i0 < 7 or i1 >= 3", scope), Expr(1));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  for (const char* between : {" + ", " * ", " // "}) {
    EXPECT_THROW(
        parse_expr(chain(between, 2000, [](int k) { return "x" + std::to_string(k); }), {}),
        UserError)
        << between;
  }
}

TEST(Expr, ProductsOfSumsStaySmall) {
  Expr product = 1;
  for (int k = 0; k < 60; ++k) product = product * (i(0, 2) + i(1, 3) + i(2, 4) + i(3, 5) + 1);
  EXPECT_LT(product.text().size(), 100'000u);
  EXPECT_LT(product.term().size(), 100'000u);
}

TEST(Expr, BoundsArePartOfAVariable) {
  EXPECT_NE(Expr::var("s", 1, 4), s());
  EXPECT_EQ(Expr::var("s", 1, 4).upper_bound(), 4);
}

TEST(Expr, NamesThatTextCanNotSayAreRejected) {
  for (const char* name : {"", "1a", "a b", "min", "or", "i0", "i12", "a\"", "é"}) {
    EXPECT_THROW(Expr::var(name), UserError) << name;
  }
  EXPECT_NO_THROW(Expr::var("i"));
  EXPECT_NO_THROW(Expr::var("i0a"));
  EXPECT_THROW(Expr::var("s", 3, 2), UserError);
}

TEST(Expr, AnIndexOfExtentOneIsZero) { EXPECT_EQ(i(3, 1), Expr(0)); }

TEST(Expr, DivAndModSplitOffWhatDivides) {
  const Expr i0 = i(0, 10), i1 = i(1, 64);
  EXPECT_EQ((i0 * 64 + i1) / 64, i0);
  EXPECT_EQ((i0 * 64 + i1) % 64, i1);
  EXPECT_EQ((s() * 65) % 64, s() % 64);
  EXPECT_EQ((s() * 4 + 2) / 8, s() / 2);
  EXPECT_EQ((s() * 4 + 3) % 8, (s() % 2) * 4 + 3);
  EXPECT_EQ((s() * 6) / -3, s() * -2);
}

TEST(Expr, DivAndModIgnoreDigitsBelowTheDivisor) {
  const Expr low = i(1, 5), low_s = i(2, s());
  EXPECT_EQ((any("x") * 5 + low) / 15, any("x") / 3);
  EXPECT_EQ((any("x") * 5 + low) % 15, any("x") % 3 * 5 + low);
  EXPECT_EQ((any("x") * s() + low_s) / (s() * t()), any("x") / t());
  EXPECT_EQ((any("x") * s() + low_s) % (s() * t()), any("x") % t() * s() + low_s);
}

TEST(Expr, DivAndModBySymbolsSplitOffWhatDivides) {
  const Expr i0 = i(0, 10), i1 = i(1, s());
  EXPECT_EQ((i0 * s() + i1) / s(), i0);
  EXPECT_EQ((i0 * s() + i1) % s(), i1);
  const Expr sum = s() + t() + 3, i2 = i(2, sum);
  EXPECT_EQ((i0 * sum + i2) / sum, i0);
  EXPECT_EQ((i0 * sum + i2) % sum, i2);
  EXPECT_EQ((s() * t() * 6) / (t() * 2), s() * 3);
  EXPECT_EQ((i1 * t()) / (s() * t()), Expr(0));
  EXPECT_EQ(((s() + 2) * (t() + 2)) / (t() + 2), s() + 2);
  // Two symbolic digits below a symbolic divisor.
  const Expr j = i(3, t());
  EXPECT_EQ((i1 * t() + j) / (s() * t()), Expr(0));
  EXPECT_EQ((i1 * t() + j) % (s() * t()), i1 * t() + j);
}

TEST(Expr, DivAndModRecombine) {
  const Expr x = i(0, 1000);
  EXPECT_EQ((x / 64) * 64 + x % 64, x);
  EXPECT_EQ((x / s()) * s() + x % s(), x);
  EXPECT_EQ((x / s()) * s() * t() * 3 + (x % s()) * t() * 3, x * t() * 3);
  EXPECT_EQ(((x / 8) % 8) * 8 + x % 8, x % 64);
  EXPECT_EQ((x / 64) * 64 + ((x / 8) % 8) * 8 + x % 8, x);
  const Expr y = s() * 4 + 3;
  EXPECT_EQ((y / 8) * 8 + y % 8, y);
}

TEST(Expr, NestedDivAndModJoin) {
  EXPECT_EQ((s() / 3) / 5, s() / 15);
  EXPECT_EQ((s() % 24) % 8, s() % 8);
  EXPECT_EQ((s() % 64) / 8, (s() / 8) % 8);
  EXPECT_EQ((any("x") % (s() * t())) % t(), any("x") % t());
  EXPECT_EQ((any("x") / s()) / t(), any("x") / (s() * t()));
}

TEST(Expr, CeilDivIsFloorDivWhereTheDivisorIsPositive) {
  EXPECT_EQ(ceil_div(s(), 16), (s() + 15) / 16);
  EXPECT_EQ(ceil_div(s() * 4, 4), s());
  EXPECT_EQ(ceil_div(Expr(-7), 2), Expr(-3));
  EXPECT_EQ(ceil_div(s(), any("x")).kind(), ExprKind::CeilDiv);
}

TEST(Expr, MinAndMaxDropWhatNeverWins) {
  EXPECT_EQ(min(s(), s() + 3), s());
  EXPECT_EQ(max(s(), Expr(-1)), s());
  EXPECT_EQ(min(min(s(), t()), s()), min(t(), s()));
  EXPECT_EQ(max(i(0, s()), s()), s());
}

TEST(Expr, ComparisonsHaveOneForm) {
  EXPECT_EQ(s() < t(), t() >= s() + 1);
  EXPECT_EQ(s() * 2 < 5, s() < 3);
  EXPECT_EQ(s() * 2 >= 5, s() >= 3);
  EXPECT_EQ((s() < 5) < 1, s() >= 5);
  EXPECT_EQ(any("x") / 4 < 3, any("x") < 12);
  EXPECT_EQ(i(0, s()) < s(), Expr(1));
  EXPECT_EQ(i(0, s()) >= s(), Expr(0));
  EXPECT_EQ(s() >= 0, Expr(1));
}

TEST(Expr, AndOrKeepNonBooleanOperandsApart) {
  const Expr p = s() < 5;
  EXPECT_EQ(p && p, p);
  EXPECT_EQ(p && Expr(7), p);
  EXPECT_EQ(p && Expr(0), Expr(0));
  EXPECT_EQ(p || Expr(-1), Expr(1));
  EXPECT_EQ((s() < 5) && (s() < 3), s() < 3);
  EXPECT_EQ((s() < 5) && (s() >= 5), Expr(0));
  EXPECT_EQ((s() < 5) || (s() >= 5), Expr(1));
  EXPECT_NE(s() && s(), s());
  EXPECT_EQ((s() && s()).evaluate({{"s", 7}}).value, 1);
  EXPECT_EQ(parse_expr((s() && s()).text()), s() && s());
}

TEST(Expr, DivisionByZeroHasNoValue) {
  const Expr e = s() / 0;
  EXPECT_EQ(e.kind(), ExprKind::FloorDiv);
  EXPECT_FALSE(e.evaluate({{"s", 1}}).value);
  EXPECT_EQ(e.evaluate({{"s", 1}}).why, "s // 0 divides by zero");
  EXPECT_FALSE((Expr(0) % 0).evaluate({}).value);
  EXPECT_FALSE((s() / t()).evaluate({{"s", 1}, {"t", 0}}).value);
}

TEST(Expr, OverflowStaysUnfoldedAndHasNoValue) {
  const Expr over = Expr(kMax) + 1;
  EXPECT_FALSE(over.to_int());
  EXPECT_FALSE(over.evaluate({}).value);
  EXPECT_EQ((over - 1).evaluate({}).value, kMax);
  EXPECT_EQ(parse_expr(over.text()), over);
  EXPECT_FALSE((Expr(kMin) * -1).evaluate({}).value);
  EXPECT_FALSE((Expr(kMin) / -1).evaluate({}).value);
  EXPECT_EQ((Expr(kMin) % -1).evaluate({}).value, 0);
  EXPECT_EQ((-(-Expr(kMin))).evaluate({}).value, kMin);
  const Expr big = any("x") * kMax * 3;
  EXPECT_EQ(big.evaluate({{"x", 0}}).value, 0);
  EXPECT_EQ(parse_expr(big.text(), {.variables = {any("x")}, .extents = {}}), big);
}

TEST(Expr, TheOrderOfSummandsNeverOverflows) {
  const Expr a = any("a"), b = any("b"), c = any("c");
  EXPECT_EQ((a - c + b).evaluate({{"a", kMax}, {"b", kMax}, {"c", kMax}}).value, kMax);
  EXPECT_EQ(((a - b) * c * c).evaluate({{"a", kMax}, {"b", kMax}, {"c", kMax}}).value, 0);
}

TEST(Expr, EvaluateSaysWhatIsMissing) {
  EXPECT_EQ(s().evaluate({}).why, "variable s has no value");
  EXPECT_EQ(i(2, s()).evaluate({}).why, "index i2 has no value");
  EXPECT_EQ(Expr::var("u", 1, 4).evaluate({{"u", 5}}).why, "u = 5 is outside its bounds 1 … 4");
  EXPECT_THROW(Expr::var("u", 1, 4).bind({{"u", 5}}), UserError);
}

TEST(Expr, SubstitutionSimplifiesAgain) {
  const Expr e = (i(0, 64) / 8) * s() + i(0, 64) % 8;
  const Expr replacement[] = {i(0, 8) * 8 + i(1, 8)};
  EXPECT_EQ(e.substitute_indices(replacement), i(0, 8) * s() + i(1, 8));
  EXPECT_EQ(e.bind({{"s", 8}}), i(0, 64));
  EXPECT_EQ(i(0, s()).bind({{"s", 1}}), Expr(0));
  EXPECT_EQ((s() * 2 + t()).substitute(s(), t() + 1), t() * 3 + 2);
}

TEST(Expr, VariablesAreSortedAndIncludeExtents) {
  EXPECT_EQ((t() * i(0, s())).variables(), (std::vector<Expr>{s(), t()}));
  EXPECT_TRUE((i(3, s()) + 1).uses_index(3));
  EXPECT_FALSE((i(3, s()) + 1).uses_index(2));
  EXPECT_FALSE(s().uses_indices());
}

TEST(Expr, BoundsFollowFromOperands) {
  EXPECT_EQ((i(0, 10) * 64 + i(1, 64)).upper_bound(), 639);
  EXPECT_EQ((Expr::var("n", -5, 5) % 3).lower_bound(), 0);
  EXPECT_EQ((Expr::var("n", -5, 5) / 2).lower_bound(), -3);
  EXPECT_EQ(any("x").upper_bound(), kMax);
  const Expr u = Expr::var("u", 1);
  EXPECT_EQ(((u - 1) * t()).lower_bound(), 0);
}

TEST(Expr, KnownLessSeesExtents) {
  const Expr i0 = i(0, s()), i1 = i(1, t());
  EXPECT_TRUE(known_less(i0 * t() + i1, s() * t()));
  EXPECT_TRUE(known_less_equal(i0 + 1, s()));
  EXPECT_FALSE(known_less(i0 + 1, s()));
  EXPECT_TRUE(known_less(i(0, s() * 4) / 4, s()));
  // Slices with a step, blocks of a dim.
  EXPECT_TRUE(known_less(i(0, ceil_div(s() * 2, 3)) * 3, s() * 2));
  EXPECT_FALSE(known_less(i(0, ceil_div(s() * 2, 3)) * 3 + 1, s() * 2));
  EXPECT_TRUE(known_less(i(0, s() / 4) * 4 + 3, s()));
  EXPECT_FALSE(known_less(i(0, s() / 4) * 4 + 4, s()));
  EXPECT_TRUE(known_less(s() - 4, s() / 4 * 4));
  EXPECT_FALSE(known_less(s() - 3, s() / 4 * 4));
}

TEST(Expr, TextReadsAsAPersonWritesIt) {
  const Expr i0 = i(0, 8), i1 = i(1, 64);
  EXPECT_EQ(((s() + 15) / 16 * 16).text(), "(s + 15) // 16 * 16");
  EXPECT_EQ((i0 * 64 + i1).text(), "i0 * 64 + i1");
  EXPECT_EQ((i0 * s() + i1 - 3).text(), "i0 * s + i1 - 3");
  EXPECT_EQ((i0 >= 1 && i0 < 5).text(), "i0 >= 1 and i0 < 5");
  EXPECT_EQ((s() < t() + 3).text(), "s < t + 3");
  EXPECT_EQ((-s()).text(), "-s");
  EXPECT_EQ(min(s(), t() * 2).text(), "min(s, t * 2)");
  EXPECT_EQ(ceil_div(s(), any("x")).text(), "ceildiv(s, x)");
}

TEST(Expr, TermsAreReadBackExactly) {
  EXPECT_EQ((s() + 3).term(), "(Add (Var \"s\") (Num 3))");
  EXPECT_EQ(i(1, s()).term(), "(Index 1 (Var \"s\"))");
  EXPECT_EQ(Expr::var("u", -1, 4).term(), "(Var \"u\" -1 4)");
  for (Expr e : {s() * 2 - t(), i(0, s()) % t(), min(s(), t()), s() && t(), any("x") / 3}) {
    EXPECT_EQ(parse_expr_term(e.term()), e);
  }
}

TEST(Expr, CSourceCallsFloorDivOnlyWhereSignsAreUnknown) {
  EXPECT_EQ((s() / 4).c_source(), "(s / 4)");
  EXPECT_EQ((s() / t()).c_source(), "luminal_floordiv(s, t)") << "t may be 0";
  EXPECT_EQ((any("x") / 4).c_source(), "luminal_floordiv(x, 4)");
  EXPECT_EQ((any("x") % 4).c_source(), "luminal_floormod(x, 4)");
  EXPECT_EQ((i(0, 4) * -2 + 1).c_source(), "(i0 * (-2) + 1)");
}

TEST(ParseExpr, FollowsThePrecedence) {
  const ParseScope scope = scope_of({s(), s()});
  EXPECT_EQ(parse_expr("1 + 2 * 3"), Expr(7));
  EXPECT_EQ(parse_expr("-7 // 2"), Expr(-4));
  EXPECT_EQ(parse_expr("-7 % 3"), Expr(2));
  EXPECT_EQ(parse_expr("-s * 3 - -2"), s() * -3 + 2);
  EXPECT_EQ(parse_expr("i0<3 and i1>=2 or s<1", scope),
            (i(0, s()) < 3 && i(1, s()) >= 2) || s() < 1);
  EXPECT_EQ(parse_expr("max(s, 2, t)"), max(max(s(), 2), t()));
  EXPECT_EQ(parse_expr("ceildiv(s, 4)"), ceil_div(s(), 4));
  EXPECT_EQ(parse_expr("-9223372036854775808"), Expr(kMin));
  EXPECT_EQ(parse_expr("u", {.variables = {Expr::var("u", 1, 2)}, .extents = {}}),
            Expr::var("u", 1, 2));
}

TEST(ParseExpr, ErrorsNameThePosition) {
  const auto message = [](std::string_view text, const ParseScope& scope = {}) -> std::string {
    try {
      parse_expr(text, scope);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("s + "), "expression: unexpected end at position 4 of 's + '");
  EXPECT_EQ(message("s ) 2"), "expression: unexpected text at position 2 of 's ) 2'");
  EXPECT_EQ(message("9223372036854775808"),
            "expression: the number doesn't fit in 64 bits at position 0 of '9223372036854775808'");
  EXPECT_EQ(message("i0"), "expression: index i0 has no extent in scope at position 0 of 'i0'");
  EXPECT_EQ(message("q", {.variables = {}, .extents = {}, .declared_only = true}),
            "expression: unknown variable 'q' at position 0 of 'q'");
  EXPECT_NE(message(std::string(100000, '(')).find("more than 200 levels"), std::string::npos);
  EXPECT_NE(message(std::string(100000, '-')).find("more than 200 levels"), std::string::npos);
  for (const char* bad : {"", "min(s)", "ceildiv(s, 2, 3)", "s s", "(s", "s <", "and",
                          "i99999999999", "1.5", "s & t", "min s"}) {
    EXPECT_THROW(parse_expr(bad), UserError) << bad;
  }
  for (const char* bad :
       {"", "(Num)", "(Num 1", "(Foo 1)", "(Add (Num 1))", "(Var s)", "(Var \"\")",
        "(Num 99999999999999999999)", "(Index -1 (Num 2))", "(Var \"s\" 3 2)"}) {
    EXPECT_THROW(parse_expr_term(bad), UserError) << bad;
  }
}

TEST(Expr, ThreadsInternTheSameNodes) {
  constexpr int kThreads = 4;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&ids, k] {
      for (int64_t n = 0; n < 3000; ++n) {
        const Expr v = Expr::var("thread" + std::to_string(n % 50));
        const Expr e = (v * (n + 1) + i(static_cast<int>(n % 7), 10 + n)) / (v + 1);
        ids[static_cast<size_t>(k)].push_back(e.id());
        ids[static_cast<size_t>(k)].push_back((e % 3 < v && e >= n).id());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int k = 1; k < kThreads; ++k) EXPECT_EQ(ids[0], ids[static_cast<size_t>(k)]);
}

TEST(Expr, HashesAndOrderDoNotDependOnTheOrderOfCreation) {
  EXPECT_EQ(Expr(5).hash(), parse_expr("5").hash());
  const Expr b = Expr::var("order_b"), a = Expr::var("order_a");
  EXPECT_LT(compare(a, b), 0);
  EXPECT_GT(compare(b, a), 0);
  EXPECT_EQ((a + b).text(), "order_a + order_b");
}

TEST(Expr, MakingAnIndexExpressionIsFast) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t ids = 0;
  constexpr int kTimes = 200000;
  for (int n = 0; n < kTimes; ++n) ids += (i(0, 8 + n % 100) * 64 + i(1, 64)).id();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  EXPECT_GT(ids, 0u);
  EXPECT_LT(time.count() / kTimes, 20000) << "ns each; far above the usual few hundred";
  RecordProperty("ns_per_expression", static_cast<int>(time.count() / kTimes));
}

}  // namespace
}  // namespace luminal

#include "luminal/pytorch/pt2/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"

namespace luminal::pytorch {
namespace {

using testing::HasSubstr;

const std::string kLength = "Symbol('s77', positive=True, integer=True)";

Symbols known() {
  Symbols symbols;
  symbols.set_range("s77", 2, 64);
  return symbols;
}

std::string error_of(const std::string& text) {
  try {
    known().parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Symbols, EveryHeadIsRead) {
  const Expr n = Expr::var("s77", 2, 64);
  const auto parsed = [](const std::string& text) { return known().parse(text); };
  EXPECT_EQ(parsed("Integer(-3)"), Expr(-3));
  EXPECT_EQ(parsed(kLength), n);
  EXPECT_EQ(parsed("Add(" + kLength + ", Integer(-1))"), n - 1);
  EXPECT_EQ(parsed("Mul(Integer(2), " + kLength + ", Integer(3))"), 6 * n);
  EXPECT_EQ(parsed("FloorDiv(" + kLength + ", Integer(2))"), n / 2);
  EXPECT_EQ(parsed("Mod(" + kLength + ", Integer(4))"), n % 4);
  EXPECT_EQ(parsed("Max(Integer(5), " + kLength + ")"), max(5, n));
  EXPECT_EQ(parsed("Min(Integer(5), " + kLength + ")"), min(5, n));
  EXPECT_EQ(parsed("Pow(" + kLength + ", Integer(2))"), n * n);
}

TEST(Symbols, ASymbolWithoutARangeIsNotNegative) {
  EXPECT_EQ(known().variable("u0").lower_bound(), 0);
  EXPECT_EQ(known().variable("s77").upper_bound(), 64);
}

TEST(Symbols, WhatIsPaddedToAMultipleIsOne) {
  const std::string missing = "Mod(Mul(Integer(-1), " + kLength + "), Integer(4))";
  const Expr padded = known().parse("Add(" + kLength + ", " + missing + ")");
  EXPECT_EQ(padded / 4 * 4, padded);
  for (int64_t n = 2; n <= 9; ++n) {
    EXPECT_EQ(padded.bind({{"s77", n}}), (n + 3) / 4 * 4);
    EXPECT_EQ(known().parse(missing).bind({{"s77", n}}), (4 - n % 4) % 4);
  }
}

TEST(Symbols, EqualOnesAreOneWithinTheBoundsOfBoth) {
  Symbols symbols = known();
  symbols.set_range("s5", 1, 9);
  const auto equal = [&](const char* a, const char* b) {
    return symbols.set_equal(symbols.variable(a), symbols.variable(b));
  };
  EXPECT_TRUE(equal("s5", "s77"));
  EXPECT_TRUE(equal("s77", "u0"));
  EXPECT_FALSE(equal("s5", "u0"));
  EXPECT_EQ(symbols.parse("Add(Symbol('s5'), " + kLength + ")"), 2 * Expr::var("u0", 2, 9));
}

TEST(Symbols, WhatCannotBeReadIsNamedWithItsPlace) {
  EXPECT_THAT(error_of("Integer(x)"), HasSubstr("expected an integer at character 8"));
  EXPECT_THAT(error_of("Integer(3"), HasSubstr("expected ) at character 9"));
  EXPECT_THAT(error_of("Float(3)"), HasSubstr("expected Integer, Symbol, Add"));
  EXPECT_THAT(error_of("Integer(3) "), HasSubstr("expected the end at character 10"));
  EXPECT_THAT(error_of("Symbol('s"), HasSubstr("expected '"));
  EXPECT_THAT(error_of("Pow(Integer(2), Integer(99))"), HasSubstr("a small whole power"));
  EXPECT_THAT(error_of(""), HasSubstr("expected Integer"));
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "Add(";
  EXPECT_THAT(error_of(deep), HasSubstr("nested less deeply"));
}

}  // namespace
}  // namespace luminal::pytorch

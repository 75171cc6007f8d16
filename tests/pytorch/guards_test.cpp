#include "luminal/pytorch/pt2/guards.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace luminal::pytorch {
namespace {

// Symbols s, t and u from 2 to 100, after these guards.
Symbols after(const std::vector<std::string>& guards) {
  Symbols symbols;
  for (const char* name : {"s", "t", "u"}) symbols.set_range(name, 2, 100);
  const InputDim dim = [&](const std::string& input, size_t axis) -> std::optional<Expr> {
    if (input == "ids" && axis < 2) return symbols.variable(axis == 0 ? "s" : "t");
    if (input == "cache_k_3" && axis == 12) return symbols.variable("u");
    return std::nullopt;
  };
  assume(guards, dim, symbols);
  return symbols;
}

Expr s_after(const std::string& guard) { return after({guard}).variable("s"); }

TEST(Guards, EqualSizesAreOneVariable) {
  const Symbols found = after({"L['ids'].size()[1] == L['cache']['k'][3].size()[12]", "s <= u"});
  EXPECT_EQ(found.variable("t"), found.variable("u"));
  EXPECT_EQ(found.variable("s"), Expr::var("s", 2, 100));
  const Symbols scaled = after({"s == 3*t + 1"});
  EXPECT_EQ(scaled.variable("s"), 3 * Expr::var("t", 2, 33) + 1);
}

TEST(Guards, MultiplesAreWrittenAsSuch) {
  const Expr quarter = Expr::var("s_by_4", 1, 25);
  EXPECT_EQ(s_after("(L['ids'].size()[0] % 4) == 0"), 4 * quarter);
  EXPECT_EQ(s_after("0 == s % 4"), 4 * quarter);
  EXPECT_EQ(s_after("((4 + (-1)*(s % 4)) % 4) == 0"), 4 * quarter);  // what pads it
  EXPECT_EQ(s_after("((4 + (-1)*(s % 4)) % 4) <= 0"), 4 * quarter);
  EXPECT_EQ(s_after("((6*s*t) % (24*t)) == 0"), 4 * quarter);
  EXPECT_EQ(s_after("(3*s + 1) % 4 == 0"), 4 * Expr::var("s_by_4", 1, 24) + 1);
  EXPECT_EQ(s_after("6*s % 4 == 0"), 2 * Expr::var("s_by_2", 1, 50));
  const Symbols twice = after({"s % 4 == 0", "s % 6 == 0"});
  EXPECT_EQ(twice.variable("s"), 12 * Expr::var("s_by_4_by_3", 1, 8));
  EXPECT_EQ(twice.parse("Mod(Symbol('s'), Integer(12))"), Expr(0));
}

TEST(Guards, BoundsAreNarrowed) {
  EXPECT_EQ(s_after("s <= 9"), Expr::var("s", 2, 9));
  EXPECT_EQ(s_after("9 < s"), Expr::var("s", 10, 100));
  EXPECT_EQ(s_after("2*s + 1 >= 9"), Expr::var("s", 4, 100));
  EXPECT_EQ(s_after("-s > -9"), Expr::var("s", 2, 8));
  // Of a model that takes padded chunks one by one.
  EXPECT_EQ(s_after("((s + ((8 + (-1)*(s % 8)) % 8)) // 8) == 1"), Expr::var("s", 2, 8));
  EXPECT_EQ(s_after("((s + ((8 + (-1)*(s % 8)) % 8)) // 8) == 3"), Expr::var("s", 17, 24));
  EXPECT_EQ(s_after("s <= 1"), Expr::var("s", 2, 100));  // never
}

TEST(Guards, OthersAddNothing) {
  for (const char* guard : {"",
                            "L",
                            "L[",
                            "L['",
                            "L['ids",
                            "L['ids']",
                            "L['ids'].size()",
                            "L['ids'].size()[1]",
                            "L['x'].size()[1] == 3",
                            "L['ids'].size()[7] == 3",
                            "s != 4",
                            "s <= t",
                            "s*t == u",
                            "s == t == u",
                            "s.x == 4",
                            "f(s) == 4",
                            "s / 2 == 4",
                            "2.5 <= s",
                            "s <= 9 and t <= 9",
                            "s ** 99 <= 4",
                            "s % 0 == 0",
                            "s % t == 0",
                            "s // 0 == 1",
                            "(s <= 9",
                            "max(s <= 9",
                            "L['ids'].size()[99999999999999999999] == 4",
                            "99999999999999999999 >= s"}) {
    const Symbols found = after({guard});
    for (const char* name : {"s", "t", "u"}) {
      EXPECT_EQ(found.variable(name), Expr::var(name, 2, 100)) << guard;
    }
  }
  after({std::string(100'000, '('), std::string(100'000, '-'), "s" + std::string(10'000, '*')});
}

TEST(Guards, DefinitionsNeverRunInACircle) {
  const Symbols found = after({"s_by_4 == s + 1", "s % 4 == 0", "s_by_4 % 2 == 0", "s == s_by_4"});
  EXPECT_EQ(found.variable("s").variables().size(), 1u);
  EXPECT_EQ(found.variable("s_by_4"), found.variable("s") + 1);
}

}  // namespace
}  // namespace luminal::pytorch

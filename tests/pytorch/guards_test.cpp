#include "luminal/pytorch/pt2/guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/shape/index/affine_dim.h"

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
  EXPECT_THROW(s_after("s <= 1"), UserError);
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

// A random expression of s and t: as Python writes it, and its value (none: a division by zero).
struct Written {
  std::string text;
  std::function<std::optional<int64_t>(int64_t s, int64_t t)> value;
};

class RandomGuards {
 public:
  explicit RandomGuards(unsigned seed) : random_(seed) {}

  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  Written expression(int depth) {
    const int64_t kind = depth == 0 ? number(0, 2) : number(0, 8);
    if (kind == 0) return {"s", [](int64_t s, int64_t) { return std::optional(s); }};
    if (kind == 1) return {"t", [](int64_t, int64_t t) { return std::optional(t); }};
    if (kind == 2) {
      const int64_t of = number(1, 9);
      return {std::to_string(of), [of](int64_t, int64_t) { return std::optional(of); }};
    }
    static const std::vector<std::string> kOperators = {"+", "-", "*", "//", "%", "//"};
    const std::string& op = kOperators[static_cast<size_t>(kind - 3)];
    const Written a = expression(depth - 1), b = expression(depth - 1);
    return {"(" + a.text + " " + op + " " + b.text + ")",
            [a, b, op](int64_t s, int64_t t) -> std::optional<int64_t> {
              const auto x = a.value(s, t), y = b.value(s, t);
              if (!x || !y) return std::nullopt;
              if (op == "+") return *x + *y;
              if (op == "-") return *x - *y;
              if (op == "*") return *x * *y;
              if (*y == 0) return std::nullopt;
              const int64_t quotient = *x / *y - (*x % *y != 0 && (*x < 0) != (*y < 0) ? 1 : 0);
              return op == "//" ? quotient : *x - quotient * *y;
            }};
  }

  // One that holds at (s, t), with its value as 0 or 1.
  std::optional<Written> guard(int64_t s, int64_t t) {
    const Written a = expression(3);
    const auto at = a.value(s, t);
    if (!at) return std::nullopt;
    static const std::vector<std::string> kRelations = {"==", "<=", ">=", "=="};
    const std::string relation = kRelations[static_cast<size_t>(number(0, 3))];
    const int64_t b = *at;
    return Written{a.text + " " + relation + " " + std::to_string(b),
                   [a, b, relation](int64_t s2, int64_t t2) -> std::optional<int64_t> {
                     const auto x = a.value(s2, t2);
                     if (!x) return std::nullopt;
                     return relation == "==" ? *x == b : relation == "<=" ? *x <= b : *x >= b;
                   }};
  }

 private:
  std::mt19937 random_;
};

// Whether a size can be `value`, and what its variable is then.
bool gives(Expr size, int64_t value, Bindings& values) {
  if (const auto fixed = size.to_int()) return *fixed == value;
  const auto of = affine_dim(size);
  const auto found = of ? of->solve(value) : std::nullopt;
  if (!found) return false;
  if (*found < of->variable.lower_bound() || *found > of->variable.upper_bound()) return false;
  const auto known = values.find(of->variable.name());
  values.set(of->variable.name(), *found);
  return !known || *known == *found;
}

TEST(Guards, SizesThatSatisfyThemCanAlwaysBeGiven) {
  RandomGuards random(5);
  int n_used = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int64_t s0 = random.number(2, 24), t0 = random.number(2, 24);
    std::vector<Written> written;
    std::vector<std::string> texts;
    for (int64_t i = random.number(1, 3); i > 0; --i) {
      if (auto guard = random.guard(s0, t0)) written.push_back(std::move(*guard));
    }
    for (const Written& each : written) texts.push_back(each.text);
    Symbols symbols;
    for (const char* name : {"s", "t"}) symbols.set_range(name, 2, 24);
    assume(texts, [](const std::string&, size_t) { return std::nullopt; }, symbols);
    const Expr s_is = symbols.variable("s"), t_is = symbols.variable("t");
    n_used += !(s_is == Expr::var("s", 2, 24) && t_is == Expr::var("t", 2, 24));
    const auto holds = [&](int64_t s, int64_t t) {
      return std::ranges::all_of(
          written, [&](const Written& each) { return each.value(s, t).value_or(0) != 0; });
    };
    for (int64_t s = 2; s <= 24; ++s) {
      for (int64_t t = 2; t <= 24; ++t) {
        if (!holds(s, t)) continue;
        Bindings values;
        const bool fits = gives(s_is, s, values) && gives(t_is, t, values);
        ASSERT_TRUE(fits) << testing::PrintToString(texts) << ": s = " << s << ", t = " << t
                          << ", s is " << s_is.text() << ", t is " << t_is.text();
      }
    }
  }
  EXPECT_GT(n_used, 500);
}

}  // namespace
}  // namespace luminal::pytorch

#include "luminal/shape/expr/expr_bytes.h"

#include <gtest/gtest.h>

#include "tests/shape/print_expr.h"

namespace luminal::shape {
namespace {

// Every kind, shared parts, symbolic extents, and sums and products too large to simplify.
std::vector<Expr> samples() {
  const Expr s = Expr::var("s", 1, 4096), t = Expr::var("t"), i = Expr::index(0, s);
  const Expr large = Expr(INT64_MAX) * s;
  return {0,
          -300,
          INT64_MIN,
          s,
          i,
          i * 3 + t * -2 + 7,
          s * t * i,
          (s + 15) / 16 * 16,
          i % 5,
          ceil_div(t, s),
          min(min(s, t), i),
          max(t, i),
          i < 4,
          (i >= t) && (t < 9),
          (i < 2) || (s >= 3),
          large + large,
          large * large};
}

std::string written() {
  ExprWriter writer;
  writer.exprs(samples());
  writer.map(IndexMap::permute({Expr::var("s", 1, 4096), 4}, std::vector<int>{1, 0}));
  return writer.bytes();
}

TEST(ExprBytes, AreReadAsTheVerySame) {
  const std::string bytes = written();
  ExprReader reader(bytes);
  EXPECT_EQ(reader.exprs(), samples());
  EXPECT_EQ(reader.map().text(), "[i1, i0]");
  EXPECT_NO_THROW(reader.in.finish());
}

TEST(ExprBytes, WhatIsSharedIsThereOnce) {
  ExprWriter once, twice;
  const Expr large = samples()[7];
  once.expr(large);
  twice.expr(large);
  twice.expr(large);
  EXPECT_EQ(twice.bytes().size(), once.bytes().size() + 1);
}

// Whatever the bytes are, reading ends with expressions or with a ByteError.
TEST(ExprBytes, DamageIsRefusedOrHarmless) {
  const std::string whole = written();
  int refused = 0;
  auto read = [&](const std::string& bytes) {
    try {
      ExprReader reader(bytes);
      reader.exprs();
      reader.map();
      reader.in.finish();
    } catch (const base::ByteError&) {
      ++refused;
    }
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      read(damaged);
    }
    const int before = refused;
    read(whole.substr(0, at));
    EXPECT_EQ(refused, before + 1) << "cut at " << at;
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) * 8) << "nearly all of the table is hashed";
}

}  // namespace
}  // namespace luminal::shape

#include "luminal/base/text/sexpr.h"

#include "luminal/base/errors.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace luminal::base {
namespace {

std::string read_and_print(std::string_view text) {
  std::string out;
  for (const Sexpr& sexpr : read_sexprs(text, "t")) {
    if (!out.empty()) out += ' ';
    out += print(sexpr);
  }
  return out;
}

std::string error_of(std::string_view text, const SexprLimits& limits = {}) {
  try {
    read_sexprs(text, "file.egg", limits);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Sexpr, BlanksAndCommentsOnlySeparate) {
  EXPECT_EQ(read_and_print(" ( rewrite\t(add x 0)\n;( a comment\r\n x) ;end"),
            "(rewrite (add x 0) x)");
  EXPECT_EQ(read_and_print(""), "");
  EXPECT_EQ(read_and_print("; nothing"), "");
  EXPECT_EQ(read_and_print("a(b)\"c\"d"), "a (b) \"c\" d");
  EXPECT_EQ(read_and_print("()"), "()");
}

TEST(Sexpr, KindsAndHeadsCanBeAskedFor) {
  const auto all = read_sexprs("x \"x\" (x 1) ()", "t");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_TRUE(all[0].is_atom("x"));
  EXPECT_TRUE(all[1].is_string());
  EXPECT_FALSE(all[1].is_atom("x"));
  EXPECT_TRUE(all[2].is_call("x"));
  EXPECT_FALSE(all[3].is_call("x"));
}

TEST(Sexpr, EscapesInStringsAreReadAndPrinted) {
  const auto all = read_sexprs(R"--(("a\n\t\r\\\"\x00\x7fé;)"))--", "t");
  ASSERT_EQ(all.size(), 1u);
  const Sexpr& string = all[0].items[0];
  EXPECT_EQ(string.text, std::string("a\n\t\r\\\"\0\x7f"
                                     "é;)",
                                     12));
  EXPECT_EQ(print(string), R"--("a\n\t\r\\\"\x00\x7fé;)")--");
}

TEST(Sexpr, PositionsCountLinesAndColumnsFromOne) {
  const auto all = read_sexprs("a\n  (b\n \"c\nd\" e)", "t");
  EXPECT_EQ(all[1].position.line, 2u);
  EXPECT_EQ(all[1].position.column, 3u);
  EXPECT_EQ(all[1].items[1].position.line, 3u);
  EXPECT_EQ(all[1].items[1].position.column, 2u);
  EXPECT_EQ(all[1].items[2].position.line, 4u);
  EXPECT_EQ(all[1].items[2].position.column, 4u);
}

TEST(Sexpr, ErrorsSayWhere) {
  EXPECT_EQ(error_of("(a\n (b)"), "file.egg:1:1: '(' is never closed; the text ends first");
  EXPECT_EQ(error_of("a\n )"), "file.egg:2:2: ')' without a '(' before it");
  EXPECT_EQ(error_of(" \"abc"), "file.egg:1:2: the string is never closed; the text ends first");
  EXPECT_EQ(error_of("\"a\\q\""),
            "file.egg:1:3: unknown escape; strings know \\n \\t \\r \\\\ \\\" and \\xHH");
  EXPECT_EQ(error_of("\"\\x1g\""), "file.egg:1:2: \\x needs two hexadecimal digits");
  EXPECT_EQ(error_of("\"\\"), "file.egg:1:2: the text ends after '\\'");
  EXPECT_EQ(error_of(std::string("a\0b", 3)), "file.egg:1:2: control character 0 outside a string");
}

TEST(Sexpr, NestingIsLimited) {
  EXPECT_EQ(error_of("(((", {.depth = 2}), "file.egg:1:3: lists are nested deeper than 2 levels");
  EXPECT_EQ(error_of(std::string(1'000'000, '(')),
            "file.egg:1:1001: lists are nested deeper than 1000 levels");
  const std::string deep = std::string(1000, '(') + std::string(1000, ')');
  EXPECT_EQ(read_and_print(deep), deep);
}

TEST(Sexpr, LongListsPrintOverSeveralLines) {
  const Sexpr rule = read_sexprs("(rewrite (mul a (add b c)) (add (mul a b) (mul a c)))", "t")[0];
  EXPECT_EQ(print_indented(rule, 100), print(rule));
  EXPECT_EQ(print_indented(rule, 30),
            "(rewrite\n"
            "  (mul a (add b c))\n"
            "  (add (mul a b) (mul a c)))");
  EXPECT_EQ(print_indented(rule, 20),
            "(rewrite\n"
            "  (mul a (add b c))\n"
            "  (add\n"
            "    (mul a b)\n"
            "    (mul a c)))");
  const Sexpr pairs = read_sexprs("((a b) (c d))", "t")[0];
  EXPECT_EQ(print_indented(pairs, 8), "((a b)\n (c d))");
}

Sexpr random_sexpr(std::mt19937& random, int depth) {
  const unsigned kind = random() % (depth > 0 ? 4 : 2);
  if (kind == 0) return make_atom("a" + std::to_string(random() % 100));
  if (kind == 1) {
    std::string text;
    for (unsigned i = random() % 6; i > 0; --i) text += static_cast<char>(random() % 256);
    return make_string(text);
  }
  std::vector<Sexpr> items;
  for (unsigned i = random() % 5; i > 0; --i) items.push_back(random_sexpr(random, depth - 1));
  return make_list(std::move(items));
}

TEST(Sexpr, WhatIsPrintedReadsBackTheSame) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Sexpr sexpr = random_sexpr(random, 5);
    for (const std::string& text : {print(sexpr), print_indented(sexpr, 40)}) {
      const auto back = read_sexprs(text, "t");
      ASSERT_EQ(back.size(), 1u) << text;
      ASSERT_TRUE(same(sexpr, back[0])) << text;
    }
  }
}

TEST(Sexpr, AnyBytesAreReadOrRefused) {
  std::mt19937 random(11);
  const std::string alphabet = "(()) \"\\;\nxab0\x01";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (unsigned n = random() % 20; n > 0; --n) text += alphabet[random() % alphabet.size()];
    try {
      std::string printed;
      const auto first = read_sexprs(text, "t");
      for (const Sexpr& sexpr : first) printed += print(sexpr) + " ";
      const auto second = read_sexprs(printed, "t");
      ASSERT_TRUE(std::equal(first.begin(), first.end(), second.begin(), second.end(), same));
    } catch (const UserError&) {
    }
  }
}

}  // namespace
}  // namespace luminal::base

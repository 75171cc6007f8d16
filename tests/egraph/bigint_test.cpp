#include "luminal/egraph/bigint.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace luminal::egraph {
namespace {

BigInt big(const char* text) { return *BigInt::from_string(text); }

// Of any size up to 300 bits, with long runs of equal bits, where carries go far.
BigInt random_number(std::mt19937_64& random) {
  BigInt number(static_cast<int64_t>(random()));
  for (uint64_t i = random() % 5; i > 0; --i) {
    const int64_t low = random() % 2 == 0 ? static_cast<int64_t>(random() >> 1)
                                          : std::numeric_limits<int64_t>::max();
    number = (number << (random() % 64)) + BigInt(low);
  }
  return random() % 2 == 0 ? number : -number;
}

TEST(BigInt, TextsReadAndPrint) {
  for (const char* text : {"0", "1", "-1", "4294967296", "-18446744073709551616",
                           "123456789012345678901234567890", "1000000000000000000000"}) {
    EXPECT_EQ(big(text).to_string(), text);
  }
  EXPECT_EQ(big("+1_000").to_string(), "1000");
  EXPECT_EQ(big("-0").to_string(), "0");
  EXPECT_EQ(BigInt(std::numeric_limits<int64_t>::min()).to_string(), "-9223372036854775808");
  for (const char* text : {"", "-", "+", "_1", "1x", "--1", "+-1", " 1"}) {
    EXPECT_FALSE(BigInt::from_string(text)) << text;
  }
}

TEST(BigInt, ArithmeticAgreesWithMachineIntegers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const int64_t a = static_cast<int64_t>(random()) >> (random() % 40 + 24);
    const int64_t b = static_cast<int64_t>(random()) >> (random() % 40 + 24);
    EXPECT_EQ(BigInt(a) + BigInt(b), BigInt(a + b));
    EXPECT_EQ(BigInt(a) - BigInt(b), BigInt(a - b));
    EXPECT_EQ(BigInt(a) & BigInt(b), BigInt(a & b));
    EXPECT_EQ(BigInt(a) | BigInt(b), BigInt(a | b));
    EXPECT_EQ(BigInt(a) ^ BigInt(b), BigInt(a ^ b));
    EXPECT_EQ(~BigInt(a), BigInt(~a));
    EXPECT_EQ(BigInt(a) >> 7, BigInt(a >> 7));
    EXPECT_EQ(BigInt(a) < BigInt(b), a < b);
    if (b == 0) continue;
    EXPECT_EQ(BigInt(a) / BigInt(b), BigInt(a / b));
    EXPECT_EQ(BigInt(a) % BigInt(b), BigInt(a % b));
  }
}

TEST(BigInt, LargeNumbersKeepTheLawsOfArithmetic) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) {
    const BigInt a = random_number(random), b = random_number(random), c = random_number(random);
    EXPECT_EQ((a + b) - b, a);
    EXPECT_EQ(a * (b + c), a * b + a * c);
    EXPECT_EQ((a & b) + (a | b), a + b);
    EXPECT_EQ((a ^ b) ^ b, a);
    EXPECT_EQ(a << 37, a * big("137438953472"));
    EXPECT_EQ((a << 37) >> 37, a);
    EXPECT_EQ(big(a.to_string().c_str()), a);
    EXPECT_EQ(a.key() == b.key(), a == b);
    if (b.is_zero()) continue;
    const BigInt quotient = a / b, rest = a % b;
    EXPECT_EQ(quotient * b + rest, a);
    EXPECT_TRUE(rest.is_zero() || rest.is_negative() == a.is_negative());
    EXPECT_LT(rest.is_negative() ? -rest : rest, b.is_negative() ? -b : b);
  }
}

}  // namespace
}  // namespace luminal::egraph

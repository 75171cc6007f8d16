#include "luminal/base/text/json_text.h"

#include "luminal/base/errors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace luminal::base {
namespace {

TEST(JsonText, ContainersNestAndAreIndented) {
  JsonText json;
  json.begin_object();
  json.field("name", "a");
  json.key("numbers");
  json.begin_array(JsonText::Layout::OnOneLine);
  json.value(1);
  json.value(-2);
  json.begin_object();  // stays on the line of what it is in
  json.field("x", true);
  json.field("y", 0.5);
  json.end_object();
  json.end_array();
  json.key("nothing");
  json.null();
  json.key("empty");
  json.begin_array();
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.text(),
            "{\n"
            "  \"name\": \"a\",\n"
            "  \"numbers\": [1, -2, {\"x\": true, \"y\": 0.5}],\n"
            "  \"nothing\": null,\n"
            "  \"empty\": []\n"
            "}");
}

std::string printed(double number) {
  JsonText json;
  json.value(number);
  return json.text();
}

TEST(JsonText, NumbersReadBackAndWhatJsonHasNotIsNull) {
  EXPECT_EQ(printed(1), "1.0");
  EXPECT_EQ(printed(0.1), "0.1");
  EXPECT_EQ(printed(1e300), "1e+300");
  EXPECT_EQ(printed(-0.0), "-0.0");
  EXPECT_EQ(printed(5e-324), "5e-324");
  EXPECT_EQ(printed(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(printed(std::numeric_limits<double>::quiet_NaN()), "null");
  JsonText json;
  json.begin_array(JsonText::Layout::OnOneLine);
  json.value(std::numeric_limits<uint64_t>::max());
  json.value(std::numeric_limits<int64_t>::min());
  json.end_array();
  EXPECT_EQ(json.text(), "[18446744073709551615, -9223372036854775808]");
}

TEST(JsonText, StringsAreEscaped) {
  EXPECT_EQ(json_quoted("a\"b\\c/\n\r\t"), R"("a\"b\\c/\n\r\t")");
  EXPECT_EQ(json_quoted(std::string("\0\x1f\x7f", 3)), R"("\u0000\u001f\u007f")");
  EXPECT_EQ(json_quoted("Grüße → 𝄞"), "\"Grüße → 𝄞\"");
}

TEST(JsonText, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(json_quoted("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(json_quoted("\xc3"), R"("\ufffd")");                      // cut off
  EXPECT_EQ(json_quoted("\xc0\xaf"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(json_quoted("\xe0\x80\xaf"), R"("\ufffd\ufffd\ufffd")");  // overlong
  EXPECT_EQ(json_quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate
  EXPECT_EQ(json_quoted("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");
  EXPECT_EQ(json_quoted("\xe2\x82x"), R"("\ufffd\ufffdx")");
}

TEST(JsonText, WhatIsLeftOpenIsNoText) {
  JsonText json;
  json.begin_object();
  EXPECT_THROW(json.text(), InternalError);
  EXPECT_THROW(JsonText().key("x"), InternalError);
}

TEST(JsonText, WhatIsUtf8IsKnown) {
  for (const char* text : {"", "plain", "\u00e9\u2028\U0001f600", "\x7f\x01"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
  for (const char* text :
       {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << json_quoted(text);
  }
}

}  // namespace
}  // namespace luminal::base

#include "luminal/io/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using tests::user_error;

Config parse_config(std::string_view text) { return Config::parse(text, "config.json"); }

TEST(Config, ValuesAreReadByKeyAndKind) {
  const Config config = parse_config(R"({
    "hidden_size": 576, "whole": 64.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true,
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "eos_token_id": [1, 2],
    "bos_token_id": 1, "pad_token_id": null, "unknown": {"deep": [[], {}, null]},
    "rope_scaling": {"rope_type": "llama3", "factor": 8, "inner": {"x": 1}}})");
  EXPECT_THAT(config.find_int("hidden_size"), Optional(576));
  EXPECT_THAT(config.find_int("whole"), Optional(64));
  EXPECT_THAT(config.find_real("rms_norm_eps"), Optional(1e-5));
  EXPECT_THAT(config.find_real("hidden_size"), Optional(576.0));
  EXPECT_THAT(config.find_bool("tie_word_embeddings"), Optional(true));
  EXPECT_THAT(config.find_text("model_type"), Optional(std::string("llama")));
  EXPECT_THAT(config.find_texts("architectures"), Optional(ElementsAre("LlamaForCausalLM")));
  EXPECT_THAT(config.find_ints("eos_token_id"), Optional(ElementsAre(1, 2)));
  EXPECT_THAT(config.find_ints("bos_token_id"), Optional(ElementsAre(1)));
  EXPECT_EQ(config.find_int("pad_token_id"), std::nullopt);
  EXPECT_EQ(config.find_int("absent"), std::nullopt);
  const Config scaling = config.find_object("rope_scaling").value();
  EXPECT_EQ(scaling.text_at("rope_type"), "llama3");
  EXPECT_EQ(scaling.real_at("factor"), 8);
  EXPECT_EQ(scaling.json(), R"({"factor":8,"inner":{"x":1},"rope_type":"llama3"})");
  EXPECT_EQ(config.json("eos_token_id"), "[1,2]");
  EXPECT_THAT(scaling.keys(), ElementsAre("factor", "inner", "rope_type"));
}

TEST(Config, AnObjectOutlivesItsConfig) {
  std::optional<Config> inner = parse_config(R"({"a": {"b": {"c": 7}}})").find_object("a");
  EXPECT_EQ(inner->find_object("b")->int_at("c"), 7);
}

TEST(Config, WhatIsMissingOrOfAnotherKindIsNamed) {
  const Config config =
      parse_config(R"({"n": 1.5, "t": "x", "b": true, "l": [1, "2"], "o": {"k": []},
    "large": 9223372036854775808, "huge": 1e300})");
  const auto error = [](auto function) { return user_error(function); };
  EXPECT_EQ(error([&] { config.int_at("hidden_size"); }),
            "config: 'config.json': lacks 'hidden_size'");
  EXPECT_EQ(error([&] { config.find_int("n"); }),
            "config: 'config.json': 'n' is a fraction, but an integer is expected");
  EXPECT_THAT(error([&] { config.find_int("large"); }), HasSubstr("an integer is expected"));
  EXPECT_THAT(error([&] { config.find_int("huge"); }), HasSubstr("an integer is expected"));
  EXPECT_THAT(error([&] { config.find_int("t"); }), HasSubstr("'t' is a string, but an integer"));
  EXPECT_THAT(error([&] { config.find_real("b"); }), HasSubstr("'b' is true or false, but a num"));
  EXPECT_THAT(error([&] { config.find_bool("n"); }), HasSubstr("but true or false is expected"));
  EXPECT_THAT(error([&] { config.find_text("o"); }), HasSubstr("'o' is an object, but a string"));
  EXPECT_THAT(error([&] { config.find_ints("l"); }),
              HasSubstr("'l' is a string, but a list of integers is expected"));
  EXPECT_THAT(error([&] { config.find_object("l"); }), HasSubstr("'l' is a list, but an object"));
  EXPECT_THAT(error([&] { config.find_object("o")->int_at("z"); }), HasSubstr("lacks 'o.z'"));
  EXPECT_THAT(error([&] { config.find_object("o")->find_int("k"); }),
              HasSubstr("'o.k' is a list, but an integer is expected"));
}

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Config, HostileTextsGiveAnErrorThatNamesFileAndFault) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "isn't valid JSON at byte"},
      {" \n\t", "isn't valid JSON at byte"},
      {"{", "isn't valid JSON at byte 2"},
      {"}", "isn't valid JSON at byte 1"},
      {"{}}", "isn't valid JSON at byte 3"},
      {"{} {}", "isn't valid JSON at byte 4"},
      {"[]", "holds a list, but an object is expected"},
      {"null", "holds null, but an object is expected"},
      {"3", "holds an integer"},
      {"\"x\"", "holds a string"},
      {std::string("{}\0{}", 5), "at byte 2: a zero byte"},
      {std::string("{\"a\0\": 1}", 9), "at byte 3: a zero byte"},
      {R"({"a": 1,})", "isn't valid JSON at byte"},
      {R"({"a" 1})", "isn't valid JSON at byte"},
      {R"({a: 1})", "isn't valid JSON at byte"},
      {R"({'a': 1})", "isn't valid JSON at byte"},
      {R"({"a": 01})", "isn't valid JSON at byte"},
      {R"({"a": NaN})", "isn't valid JSON at byte"},
      {R"({"a": Infinity})", "isn't valid JSON at byte"},
      {R"({"a": 1e999})", "isn't valid JSON"},
      {R"({"a": "\ud800"})", "isn't valid JSON at byte"},
      {"{\"a\": \"\xff\"}", "isn't valid JSON at byte"},
      {"{\"a\": \"\n\"}", "isn't valid JSON at byte"},
      {"{\"a\": \"open", "isn't valid JSON at byte"},
      {"// no\n{}", "isn't valid JSON at byte"},
      {R"({"a": 1, "a": 2})", "has the key 'a' twice"},
      {R"({"b": {"c": 1, "d": [{}], "c": 2}})", "has the key 'c' twice"},
      {repeat("[", 100000), "is nested deeper than 32"},
      {repeat("{\"a\":", 100000), "is nested deeper than 32"},
      {"{\"a\":" + repeat("[", 32) + repeat("]", 32) + "}", "is nested deeper than 32"},
      {"{\"a\": \"" + std::string(4'000'000, 'x') + "\"}", "over the limit of 4000000"},
      {"\x89PNG\r\n\x1a\n", "isn't valid JSON at byte"},
      {"GGUF", "isn't valid JSON at byte 1"},
  };
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string error = user_error([&] { parse_config(texts[i].first); });
    EXPECT_THAT(error, HasSubstr("config: 'config.json': ")) << "text " << i;
    EXPECT_THAT(error, HasSubstr(texts[i].second)) << "text " << i;
    EXPECT_LT(error.size(), 400u) << "text " << i;
  }
  EXPECT_EQ(user_error([] { parse_config("{\"a\":" + repeat("[", 31) + repeat("]", 31) + "}"); }),
            "(no error)");
}

TEST(Config, AListOfObjectsIsReadOneByOne) {
  const auto list = [](std::string_view text) { return Config::parse_list(text, "modules.json"); };
  const std::vector<Config> found = list(R"([{"idx": 0, "in": {"x": 1.5}}, {"idx": 1}])");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].int_at("idx"), 0);
  EXPECT_EQ(found[1].int_at("idx"), 1);
  EXPECT_TRUE(list("[]").empty());
  const auto error = [&](auto function) { return user_error(function); };
  EXPECT_THAT(error([&] { found[0].find_object("in")->int_at("x"); }),
              HasSubstr("'0.in.x' is a fraction, but an integer is expected"));
  EXPECT_THAT(error([&] { found[1].text_at("type"); }), HasSubstr("lacks '1.type'"));
  EXPECT_THAT(error([&] { list("{}"); }), HasSubstr("holds an object, but a list is expected"));
  EXPECT_THAT(error([&] { list("[{}, 3]"); }), HasSubstr("holds an integer in its list, but an"));
  EXPECT_THAT(error([&] { list("[{}"); }), HasSubstr("isn't valid JSON at byte"));
}

}  // namespace
}  // namespace luminal

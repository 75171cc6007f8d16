// Tokenizer files and chat templates that break the rules are refused with a message that says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/text/chat_template.h"
#include "luminal/text/regex/pattern.h"
#include "luminal/text/tokenizer.h"

namespace luminal {
namespace {

using ::testing::HasSubstr;

template <typename Act>
std::string message_of(const Act& act) {
  const std::clock_t start = std::clock();  // of the processor: other programs don't count
  std::string message = "accepted";
  try {
    act();
  } catch (const UserError& error) {
    message = error.what();
  }
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
  return message;
}

std::string json_error(const std::string& json) {
  return message_of([&] { Tokenizer::from_json(json, "", "t.json").encode("abc"); });
}

std::string bpe(const std::string& vocab, const std::string& merges, const std::string& more = "") {
  return R"({"model": {"type": "BPE", "vocab": )" + vocab + R"(, "merges": )" + merges + "}" +
         more + "}";
}

TEST(HostileJson, IsRefusedWithAReason) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "isn't valid JSON"},
      {"{", "isn't valid JSON"},
      {std::string("{}\0{}", 5), "a zero byte"},
      {"[]", "not an object"},
      {"{}", "has no 'model'"},
      {std::string(100000, '['), "nested deeper"},
      {R"({"model": 3})", "not an object"},
      {R"({"model": {"type": "Magic"}})", "'Magic'"},
      {bpe("[]", "[]"), "isn't an object of tokens"},
      {bpe(R"({"a": -1})", "[]"), "isn't an id"},
      {bpe(R"({"a": 4000000000})", "[]"), "isn't an id"},
      {bpe(R"({"a": 99999999999999999999})", "[]"), "isn't an id"},
      {bpe(R"({"a": 0, "b": 0})", "[]"), "id of another token"},
      {bpe(R"({"a": 0})", R"(["a"])"), "isn't two tokens"},
      {bpe(R"({"a": 0})", R"([["a", "b", "c"]])"), "isn't two tokens"},
      {bpe(R"({"a": 0})", R"(["a b"])"), "which the vocabulary lacks"},
      {bpe(R"({"a": 0})", "3"), "isn't a list"},
      {bpe(R"({"a": 0})", "[]", R"(, "normalizer": {"type": "Evil"})"), "'Evil'"},
      {bpe(R"({"a": 0})", "[]",
           R"(, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "////"})"),
       "charsmap"},
      {bpe(R"({"a": 0})", "[]",
           R"(, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "!"})"),
       "base64"},
      {bpe(R"({"a": 0})", "[]",
           R"(, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Isolated"})"),
       "without its ')'"},
      {bpe(R"({"a": 0})", "[]",
           R"(, "pre_tokenizer": {"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated"})"),
       "empty string"},
      {bpe(R"({"a": 0})", "[]", R"(, "added_tokens": [{"id": 5000000, "content": "x"}])"),
       "isn't between"},
      {bpe(R"({"a": 0})", "[]", R"(, "added_tokens": [{"id": 0, "content": "x"}])"),
       "of another token"},
      {bpe(R"({"a": 0})", "[]",
           R"(, "post_processor": {"type": "TemplateProcessing", "single": []})"),
       "no place for the text"},
      {bpe(R"({"a": 0})", "[]", R"(, "decoder": {"type": "Strip", "content": "ab", "start": 1})"),
       "isn't one character"},
      {R"({"model": {"type": "Unigram", "vocab": [["a"]]}})", "has only 1 items"},
      {R"({"model": {"type": "Unigram", "unk_id": 7, "vocab": [["a", -1]]}})", "isn't between"},
      {R"({"model": {"type": "Unigram", "vocab": [["x", -1]]}})", "is in no token"},
      {R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}})", "isn't in the vocabulary"},
  };
  for (const auto& [json, why] : kCases)
    EXPECT_THAT(json_error(json), HasSubstr(why)) << json.substr(0, 200);
}

TEST(HostilePattern, IsRefusedWithAReason) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a*", "the empty text"},
      {"a{9999}", "more than 200 times"},
      {"[z-a]", "ends before it begins"},
      {"\\p{Nope}", "isn't known"},
      {"(?<=a)b", "kind of group"},
      {"a++", "possessive"},
      {"[[:alpha:]]", "POSIX"},
      {"(?!ab)c", "more than one"},
      {"\\1", "escape"},
      {"((((a{50}){50}){50}){50})", "steps"},
      {"(a|b)*a(a|b){18}c", "too large"},
      {std::string(9000, 'a'), "longer than"},
      {std::string(200, '(') + "a", "nested deeper"}};
  for (const auto& [expression, why] : kCases) {
    EXPECT_THAT(message_of([&] { tokens::Pattern{expression}; }), HasSubstr(why))
        << expression.substr(0, 60);
  }
}

TEST(HostilePattern, CasesOfManyLargeSetsAreFoundAtOnce) {
  std::string expression = "(?i:";
  while (expression.size() < 8000) expression += "[^\\r\\p{L}]";
  const auto start = std::chrono::steady_clock::now();
  tokens::Pattern{expression + ")"};
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 20);  // one by one each of the 700 sets took a tenth of a second
}

TEST(HostileModel, IsRefusedWithAReason) {
  const std::string piece(
      "\x0a\x08\x0a\x01"
      "a\x15\0\0\0\0",
      10);
  const std::pair<std::string, std::string> kCases[] = {
      {"", "no pieces"},
      {"\x0a", "cut short"},
      {"\x0a\x7f", "past the end"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "too long"},
      {std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10), "past the end"},
      {"\x0b", "unknown type"},
      {std::string("\x00\x01", 2), "invalid number"},
      {std::string("\x0a\x02\x18\x09", 4), "has type 9"},
      {std::string("\x0a\x02\x0a\x00", 4), "is empty"},
      {std::string("\x0a\x03\x0a\x01\xff", 5), "isn't UTF-8"},
      {piece + std::string("\x12\x02\x18\x03", 4), "neither unigram nor BPE"},
      {piece + std::string("\x1a\x03\x12\x01x", 5), "charsmap is cut short"},
      {piece + std::string("\x1a\x06\x12\x04\xff\xff\xff\xff", 8), "wrong size"},
  };
  for (const auto& [model, why] : kCases) {
    EXPECT_THAT(message_of([&] { Tokenizer::from_sentencepiece(model, "t.model"); }),
                HasSubstr(why))
        << why;
  }
}

TEST(HostileVocabulary, IsRefusedWithAReason) {
  const auto error = [](VocabularyData data) {
    return message_of([&] { Tokenizer::from_vocabulary(data); });
  };
  VocabularyData good;
  good.source = "m.gguf";
  good.model = "gpt2";
  good.tokens = {"a", "b", "ab"};
  good.merges = {"a b"};
  EXPECT_EQ(error(good), "accepted");
  const auto with = [&](auto change) {
    VocabularyData data = good;
    change(data);
    return error(data);
  };
  EXPECT_THAT(with([](auto& d) { d.tokens.clear(); }), HasSubstr("no tokens"));
  EXPECT_THAT(with([](auto& d) { d.model = "evil"; }), HasSubstr("'evil'"));
  EXPECT_THAT(with([](auto& d) { d.pre_tokenizer = "evil"; }),
              HasSubstr("no pre-tokenizer named 'evil'"));
  EXPECT_THAT(with([](auto& d) { d.types = {1}; }), HasSubstr("1 types"));
  EXPECT_THAT(with([](auto& d) { d.types = {1, 1, 77}; }), HasSubstr("type 77"));
  EXPECT_THAT(with([](auto& d) { d.merges = {"ab"}; }), HasSubstr("isn't two tokens"));
  EXPECT_THAT(with([](auto& d) { d.merges = {"a x"}; }), HasSubstr("vocabulary lacks"));
  EXPECT_THAT(with([](auto& d) { d.bos = 3; }), HasSubstr("only 3 tokens"));
  EXPECT_THAT(with([](auto& d) { d.model = "llama"; }), HasSubstr("no scores"));
  EXPECT_THAT(with([](auto& d) { d.model = "bert"; }), HasSubstr("no unknown token"));
}

TEST(HostileTokenizer, TextThatGrowsIsBounded) {
  const auto chain = [](const std::string& step, int n) {
    std::string steps;
    for (int k = 0; k < n; ++k) steps += (k == 0 ? "" : ",") + step;
    return steps;
  };
  const std::string tenfold =
      R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"})";
  const std::string by_pattern =
      R"({"type": "Replace", "pattern": {"Regex": "a"}, "content": "aaaaaaaaaa"})";
  const std::string vocab = R"({"a": 0})";
  const auto normalizer = [&](const std::string& steps) {
    return bpe(vocab, "[]",
               R"(, "normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}");
  };
  for (
      const std::string& steps :
      {chain(tenfold, 12), chain(by_pattern, 12),
       chain(R"({"type": "ByteLevel"})", 2) + "," +
           R"({"type": "Replace", "pattern": {"String": "a"}, "content": "\u00e9\u00e9\u00e9\u00e9"},)" +
           chain(R"({"type": "ByteLevel"})", 40)}) {
    EXPECT_THAT(json_error(normalizer(steps)), HasSubstr("bytes of a text")) << steps;
  }
  const std::string large = std::string(1 << 20, 'a');
  EXPECT_THAT(
      json_error(normalizer(R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
                            large + "\"}," + tenfold + "," + tenfold)),
      HasSubstr("bytes of a text"));
  const std::string decoder =
      bpe(vocab, "[]",
          R"(, "decoder": {"type": "Sequence", "decoders": [)" + chain(tenfold, 12) + "]}");
  EXPECT_THAT(message_of([&] {
                const Tokenizer tokenizer = Tokenizer::from_json(decoder, "", "t.json");
                tokenizer.decode(std::vector<TokenId>{0});
              }),
              HasSubstr("bytes of a text"));
}

TEST(HostileTokenizer, TokensOfATemplateAreCountedAsTheyAreMade) {
  std::string ids, items;
  for (int k = 0; k < 20'000; ++k) {
    if (k < 1000) ids += (k == 0 ? "0" : ",0");
    items += R"({"SpecialToken": {"id": "x", "type_id": 0}},)";
  }
  EXPECT_THAT(
      json_error(bpe(R"({"a": 0})", "[]",
                     R"(, "post_processor": {"type": "TemplateProcessing", "single": [)" + items +
                         R"({"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"x": )" +
                         R"({"id": "x", "ids": [)" + ids + R"(], "tokens": ["a"]}}})")),
      HasSubstr("adds too many tokens"));
}

TEST(HostilePattern, SearchIsLinearAndFindsTheFirstMatch) {
  const std::string text(200'000, 'a');
  for (const char* expression : {"(a+)+$", "(?:aaa)+$", "(?:a|b)+c", "a{1,30}b", "(a+)+[bc]"}) {
    const std::string other = text + "d";
    EXPECT_FALSE(tokens::Pattern(expression).find(other, 0).has_value()) << expression;
  }
  // The same as trying one place after the other.
  uint32_t random = 1;
  const auto next = [&](uint32_t n) {
    return (random = random * 1664525u + 1013904223u) / 65536 % n;
  };
  for (const char* expression :
       {"(a+)+$", "(?:aab)+c", "a+b|b+c", "ab*a{60}c|bb", "(?:ab|ba)+$", "[ab]+c+?", "a{70}|b+c"}) {
    const tokens::Pattern pattern(expression);
    for (int round = 0; round < 200; ++round) {
      std::string line;
      const uint32_t letters = 1 + next(3);
      const uint32_t size = next(300);
      for (uint32_t k = 0; k < size; ++k)
        line += static_cast<char>('a' + (next(8) == 0 ? next(3) : next(letters)));
      for (size_t from : {size_t{0}, line.size() / 3}) {
        std::optional<tokens::Pattern::Match> expected;
        for (size_t at = from; at < line.size() && !expected; ++at) {
          if (auto end = pattern.match_at(line, at)) expected = {at, *end};
        }
        const auto found = pattern.find(line, from);
        ASSERT_EQ(found.has_value(), expected.has_value()) << expression << " " << line;
        if (!found) continue;
        EXPECT_EQ(found->begin, expected->begin) << expression << " " << line;
        EXPECT_EQ(found->end, expected->end) << expression << " " << line;
      }
    }
  }
}

std::string template_error(const std::string& source) {
  return message_of([&] { ChatTemplate(source).render({{"user", "hi"}}); });
}

TEST(HostileTemplate, EndsWithAnErrorThatNamesTheLine) {
  std::string chain = "{{ 1";
  for (int i = 0; i < 5000; ++i) chain += " + 1";
  const std::pair<std::string, std::string> kCases[] = {
      {"\n{{ 'a }}", "line 2: a string isn't closed"},
      {"{% include 'x' %}", "'include' isn't supported"},
      {"\n\n{{ x | evil }}", "line 3: the filter 'evil'"},
      {"{{ messages.__class__.__mro__ }}", "is undefined"},
      {"{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}", "nested deeper"},
      {chain + " }}", "deeper than"},
      {"{% for i in range(100000000) %}{% endfor %}", "more than 100000"},
      {"{% set r = range(1000) %}{% for i in r %}{% for j in r %}{% for k in r %}{% endfor %}{% "
       "endfor %}{% "
       "endfor %}",
       "too many steps"},
      {"{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s "
       "%}{% endfor %}",
       "too much intermediate text"},
      {"{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% "
       "endfor %}{{ ns.x }}",
       "becomes too large"},
      {"{% set ns = namespace(x=[1]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor "
       "%}",
       "deep"},
      {"{% set ns = namespace() %}{% set ns.me = ns %}", "can't hold a namespace"},
      {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deep"},
      {"{{ 'x' * 1000000000000 }}", "repeated too often"},
      {"{{ 'x' * 1000000000 }}", "too much intermediate text"},
      {"{% for i in range(3000) %}{{ 'x' * 10000 }}{% endfor %}", "it prints more than"},
      {"{{ 9223372036854775807 + 1 }}", "too many digits"},
      {"{{ 922337203685477580 * 100 }}", "too large"},
      {"{{ 1 % 0 }}", "division by zero"},
      {"{{ raise_exception('not today') }}", "rejects this conversation: not today"},
      {"{{ '\xff' }}", "isn't UTF-8"},
  };
  for (const auto& [source, why] : kCases) {
    EXPECT_THAT(template_error(source), HasSubstr(why)) << source.substr(0, 120);
  }
}

}  // namespace
}  // namespace luminal

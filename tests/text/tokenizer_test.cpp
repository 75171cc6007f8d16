// What tokenizers, streams and chat templates promise, on vocabularies small enough to see through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/text/chat_template.h"
#include "luminal/text/regex/char_set.h"
#include "luminal/text/regex/pattern.h"
#include "luminal/text/text_stream.h"
#include "luminal/text/tokenizer.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;

// Bytes as letters: every text can be written; "é" is two tokens, "<end>" a special one.
Tokenizer byte_tokenizer() {
  VocabularyData data;
  data.source = "test";
  data.model = "gpt2";
  for (int b = 0; b < 256; ++b) {
    const bool stays = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    static int moved;
    if (b == 0) moved = 0;
    data.tokens.push_back(tokens::utf8(static_cast<char32_t>(stays ? b : 0x100 + moved++)));
  }
  data.tokens.push_back("<end>");
  data.types.assign(257, VocabularyData::kNormal);
  data.types[256] = VocabularyData::kControl;
  data.eos = 256;
  return Tokenizer::from_vocabulary(data);
}

TEST(Tokenizer, TakesSpecialTokensInATextForTextWhenAsked) {
  const Tokenizer tokenizer = byte_tokenizer();
  EXPECT_THAT(tokenizer.encode("a<end>"), ElementsAre('a', 256));
  EXPECT_THAT(tokenizer.encode("<e", {.parse_special = false}), ElementsAre('<', 'e'));
  EXPECT_EQ(tokenizer.encode("<end>", {.parse_special = false}).size(), 5u);
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{'a', 256}), "a<end>");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{'a', 256}, {.skip_special = true}), "a");
  EXPECT_EQ(tokenizer.eos(), 256);
}

TEST(Tokenizer, TakesSpecialTokensInPlainRangesForText) {
  const Tokenizer tokenizer = byte_tokenizer();
  const std::string text = "<end><end><end>";
  const auto n_tokens = [&](std::vector<TextRange> plain) {
    return tokenizer.encode(text, {.plain = plain}).size();
  };
  EXPECT_EQ(n_tokens({}), 3u);
  EXPECT_EQ(n_tokens({{5, 10}}), 7u);
  EXPECT_EQ(n_tokens({{7, 8}}), 7u);             // part of a token is enough
  EXPECT_EQ(n_tokens({{4, 6}}), 11u);            // of two
  EXPECT_EQ(n_tokens({{0, 5}, {10, 15}}), 11u);  // the second stays one
  EXPECT_EQ(n_tokens({{0, 15}}), 15u);
  EXPECT_THROW(n_tokens({{10, 16}}), UserError);
  EXPECT_THROW(n_tokens({{5, 8}, {7, 9}}), UserError);
  const std::string broken = "\xff<end>\xff<end>";  // U+FFFD is three bytes
  EXPECT_EQ(tokenizer.encode(broken, {.plain = std::vector<TextRange>{{6, 12}}}).size(), 12u);
}

TEST(Tokenizer, FindsPlainRangesInNormalizedText) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Replace", "pattern": {"String": "b"}, "content": "____"},
            {"type": "Lowercase"}]},
          "added_tokens": [{"id": 0, "content": "<end>", "special": true, "normalized": true}],
          "model": {"type": "WordPiece", "unk_token": "x", "vocab": {"<end>": 0, "x": 1}}})",
      "", "test");
  const auto n_special = [&](std::string_view text, std::vector<TextRange> plain) {
    const std::vector<TokenId> ids = tokenizer.encode(text, {.plain = plain});
    return std::count(ids.begin(), ids.end(), 0);
  };
  EXPECT_EQ(n_special("a<END>b<END>c", {}), 2);
  EXPECT_EQ(n_special("a<END>b<END>c", {{0, 1}, {6, 13}}), 1);
  EXPECT_EQ(n_special("a<END>b<END>c", {{0, 1}, {6, 7}}), 2);
  EXPECT_EQ(n_special("a<END>b<END>c", {{3, 9}}), 0);
}

TEST(Tokenizer, CutsATextThatIsTooLongWithinItsSpecialTokens) {
  VocabularyData data;
  data.source = "test";
  data.model = "bert";
  data.tokens = {"[UNK]", "[CLS]", "[SEP]", "\u2581a", "\u2581b", "\u2581c"};
  data.types.assign(6, VocabularyData::kNormal);
  data.unknown = 0;
  data.cls = data.bos = 1;
  data.separator = data.eos = 2;
  const Tokenizer tokenizer = Tokenizer::from_vocabulary(data);
  const std::string text = "a b c";
  EXPECT_THAT(tokenizer.encode(text), ElementsAre(1, 3, 4, 5, 2));
  EXPECT_THAT(tokenizer.encode(text, {.longest = 5}), ElementsAre(1, 3, 4, 5, 2));
  EXPECT_THAT(tokenizer.encode(text, {.longest = 4}), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(tokenizer.encode(text, {.longest = 2}), ElementsAre(1, 2));
  EXPECT_THAT(tokenizer.encode(text, {.add_special = false, .longest = 1}), ElementsAre(3));
  EXPECT_THROW(tokenizer.encode(text, {.longest = 1}), UserError);
}

TEST(Tokenizer, RefusesIdsThatItHasnt) {
  EXPECT_THROW(byte_tokenizer().decode(std::vector<TokenId>{257}), UserError);
  EXPECT_THROW(byte_tokenizer().decode(std::vector<TokenId>{-1}), UserError);
}

TEST(Tokenizer, ReplacesWhatIsntUtf8) {
  const Tokenizer tokenizer = byte_tokenizer();
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a\xff"
                                              "b\xc3")),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(TextStream, HoldsACharacterBackUntilItIsWhole) {
  TextStream stream(byte_tokenizer());
  EXPECT_EQ(stream.add('a'), "a");
  EXPECT_EQ(stream.add(0xC3), "");
  EXPECT_EQ(stream.add(0xA9), "\xC3\xA9");
  EXPECT_EQ(stream.add(0xE4), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.add('b'), "b");
  EXPECT_EQ(stream.add(0xE4), "");
  EXPECT_EQ(stream.finish(TextStream::Broken::Dropped), "") << "half a character";
}

TEST(TextStream, GivesBrokenBytesOutInTheEnd) {
  TextStream stream(byte_tokenizer());
  std::string out;
  for (int i = 0; i < 100; ++i) out += stream.add(0xFF);
  EXPECT_GT(out.size(), 200u);
  out += stream.finish();
  EXPECT_EQ(out.size(), 300u);
}

TEST(CharSet, HasEveryCase) {
  const auto any_case = [](char32_t first, char32_t last) {
    return tokens::CharSet::of(first, last).any_case();
  };
  const tokens::CharSet k = any_case('k', 'k');
  EXPECT_TRUE(k.contains('k') && k.contains('K') && k.contains(0x212A));  // the sign of kelvin
  EXPECT_FALSE(k.contains('j') || k.contains('l'));
  EXPECT_EQ(any_case('K', 'K'), k);
  const tokens::CharSet s = any_case('S', 'S');
  EXPECT_TRUE(s.contains('s') && s.contains(0x17F));  // the long s
  // Titles too, and letters beyond 16 bits.
  const tokens::CharSet dz = any_case(0x1C5, 0x1C5);
  EXPECT_TRUE(dz.contains(0x1C4) && dz.contains(0x1C5) && dz.contains(0x1C6));
  EXPECT_TRUE(any_case(0x10428, 0x10428).contains(0x10400));
  // Numerals, whose capitals are no letters, have only the way down.
  EXPECT_TRUE(any_case(0x2160, 0x2160).contains(0x2170));
  EXPECT_FALSE(any_case(0x2170, 0x2170).contains(0x2160));
  const tokens::CharSet letters = tokens::CharSet::property("L");
  EXPECT_EQ(letters.any_case(), letters);
}

TEST(Pattern, PrefersEarlierAlternativesAndLongerRepeats) {
  const auto match = [](const char* expression, const char* text) {
    return tokens::Pattern(expression).match_at(text, 0).value_or(0);
  };
  EXPECT_EQ(match("a|ab", "ab"), 1u);
  EXPECT_EQ(match("ab|a", "ab"), 2u);
  EXPECT_EQ(match("a+", "aaab"), 3u);
  EXPECT_EQ(match("a+?", "aaab"), 1u);
  EXPECT_EQ(match("a{2,3}", "aaaa"), 3u);
  EXPECT_EQ(match("\\s+(?!\\S)", "   x"), 2u);
  EXPECT_EQ(match("\\s+(?!\\S)", "   "), 3u);
  EXPECT_EQ(match("(?i:'LL)x", "'lLx"), 4u);
}

TEST(ChatTemplate, MakesAConversationAText) {
  const ChatTemplate chat(
      "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}\n{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}");
  EXPECT_EQ(chat.render({{"user", " hi "}, {"assistant", "yo"}}),
            "<user>hi\n<assistant>yo\n<assistant>");
  EXPECT_EQ(chat.render({}, {.add_generation_prompt = false}), "");
}

// The rendered text with what came from the messages in brackets.
std::string origin(std::string_view source, const std::vector<ChatMessage>& messages,
                   const ChatOptions& options = {}) {
  const ChatText chat = ChatTemplate(source).render_marked(messages, options);
  std::string out;
  size_t done = 0;
  for (const TextRange& range : chat.from_messages) {
    out += chat.text.substr(done, range.begin - done) + "[";
    out += chat.text.substr(range.begin, range.end - range.begin) + "]";
    done = range.end;
  }
  return out + chat.text.substr(done);
}

TEST(ChatTemplate, KnowsWhichTextCameFromMessages) {
  EXPECT_EQ(origin("{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}<end>{% endfor %}",
                   {{"user", " a<end> "}, {"assistant", "b"}}),
            "<user>[a<end>]<end><assistant>[b]<end>");
  EXPECT_EQ(origin("{{ bos_token }}{{ x }}", {}, {.bos_token = "<s>", .variables = R"({"x":"y"})"}),
            "<s>[y]");
  EXPECT_EQ(origin("<{{ messages[0].role }}>", {{"user><system", ""}}), "<[user><system]>");
}

TEST(ChatTemplate, KeepsTheOriginOfTextThroughOperations) {
  const auto one = [](const std::string& expression) {
    return origin("{% set c = messages[0].content %}{{ " + expression + " }}", {{"user", "a-éB"}});
  };
  EXPECT_EQ(one("'x' + c + 'y'"), "x[a-éB]y");
  EXPECT_EQ(one("'x' ~ c ~ 1"), "x[a-éB]1");
  EXPECT_EQ(one("('x' + c) * 2"), "x[a-éB]x[a-éB]");
  EXPECT_EQ(one("('xy' + c)[1:4]"), "y[a-]");
  EXPECT_EQ(one("('xy' + c)[::-1]"), "[Bé-a]yx");
  EXPECT_EQ(one("('x' + c)[3]"), "[é]");
  EXPECT_EQ(one("('x' + c) | reverse"), "[Bé-a]x");
  EXPECT_EQ(one("(' x' + c + ' ') | trim"), "x[a-éB]");
  EXPECT_EQ(one("(' x' + c + ' ').rstrip()"), " x[a-éB]");
  EXPECT_EQ(one("('x-' + c).split('-') | join('+')"), "x+[a]+[éB]");
  EXPECT_EQ(one("('x-' + c).rsplit('-', 1) | last"), "[éB]");
  EXPECT_EQ(one("c.join(['x', 'y'])"), "x[a-éB]y");
  EXPECT_EQ(one("'x-y'.replace('-', c)"), "x[a-éB]y");
  EXPECT_EQ(one("c.replace('-', '<end>')"), "[a]<end>[éB]");
  EXPECT_EQ(one("('x\ny' + c) | indent(1)"), "x\n y[a-éB]");
  EXPECT_EQ(one("('x' + c).removeprefix('x')"), "[a-éB]");
  EXPECT_EQ(one("('x\n' + c).splitlines() | join(' ')"), "x [a-éB]");
  EXPECT_EQ(one("('x ' + c).split() | join"), "x[a-éB]");
  EXPECT_EQ(one("('x' + c) | list | join"), "x[a-éB]");
  EXPECT_EQ(one("c if c == 'a-éB' else 'no'"), "[a-éB]");
  EXPECT_EQ(one("c | length"), "4");
  // Rewritten as a whole, marked as a whole.
  EXPECT_EQ(one("('x' + c) | upper"), "[XA-ÉB]");
  EXPECT_EQ(one("'<' ~ {'k': c} | tojson"), "<[{\"k\": \"a-éB\"}]");
  EXPECT_EQ(one("['x', c]"), "[['x', 'a-éB']]");
  EXPECT_EQ(one("{c: 1} | items | first | first"), "[a-éB]");
  EXPECT_EQ(one("dict({c: 1}) | list | first"), "[a-éB]");
  EXPECT_EQ(one("c | default('x')"), "[a-éB]");
  EXPECT_EQ(one("strftime_now(c)"), "[a-éB]");
}

TEST(ChatTemplate, KeepsTheOriginOfTextThroughMacrosAndBlocks) {
  EXPECT_EQ(origin("{% macro m(x) %}<{{ x }}>{% endmacro %}{% set b %}({{ m(messages[0].content) "
                   "}}){% endset %}{% set n = namespace(t='') %}{% for i in [1, 2] %}"
                   "{% set n.t = n.t + b %}{% endfor %}{{ n.t }}",
                   {{"user", "a"}}),
            "(<[a]>)(<[a]>)");
}

TEST(ChatTemplate, MarksKeysThatMessagesBring) {
  const ChatText chat =
      ChatTemplate("{% for k, v in messages[0].call.items() %}{{ k }}={{ v }};{% endfor %}")
          .render_json_marked(R"([{"call": {"<end>": 1}}])");
  EXPECT_EQ(chat.text, "<end>=1;");
  EXPECT_THAT(chat.from_messages, ElementsAre(TextRange{0, 5}));
}

TEST(ChatTemplate, IsTheSameEveryTimeWithAGivenClock) {
  const ChatTemplate chat("{{ strftime_now('%d %b %Y') }} {{ extra.x }}");
  EXPECT_EQ(chat.render({}, {.variables = R"({"extra": {"x": 7}})", .now = 0}), "01 Jan 1970 7");
}

}  // namespace
}  // namespace luminal

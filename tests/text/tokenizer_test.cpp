// What tokenizers, streams and chat templates promise, on vocabularies small enough to see through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/text/char_set.h"
#include "luminal/text/chat_template.h"
#include "luminal/text/pattern.h"
#include "luminal/text/text_stream.h"
#include "luminal/text/tokenizer.h"
#include "luminal/text/utf8.h"

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

TEST(ChatTemplate, IsTheSameEveryTimeWithAGivenClock) {
  const ChatTemplate chat("{{ strftime_now('%d %b %Y') }} {{ extra.x }}");
  EXPECT_EQ(chat.render({}, {.variables = R"({"extra": {"x": 7}})", .now = 0}), "01 Jan 1970 7");
}

}  // namespace
}  // namespace luminal

#include "luminal/llm/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "tests/llm/models.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kPrompt = "Once upon a time";
const char* const kStory = ", there was a little girl named Lily. She loved to play outside";

Session open_stories(SessionOptions options = {}) {
  if (options.compile.backend.threads == 0) options.compile.backend.threads = 1;
  return Session(Model::open(stories()), options);
}

Generated continued(Session& session, const GenerateOptions& options) {
  return generate(session, session.model().tokenizer().encode(kPrompt), options);
}

TEST(Generate, TextComesAsItIsMade) {
  SKIP_WITHOUT(stories());
  Session session = open_stories();
  std::string streamed;
  const Generated result =
      continued(session, {.max_tokens = 40, .on_text = [&](std::string_view piece) {
                            EXPECT_FALSE(piece.empty());
                            streamed += piece;
                            return true;
                          }});
  EXPECT_EQ(result.text, streamed);
  EXPECT_THAT(result.text, StartsWith(kStory));
  EXPECT_EQ(result.reason, EndReason::MaxTokens);
  EXPECT_EQ(result.ids.size(), 40u);
  // What was sampled last isn't in the cache yet.
  EXPECT_EQ(session.ids().size(), 5u + 39u);
  EXPECT_EQ(result.stats.prompt_tokens, 5);
  EXPECT_GT(result.stats.token_seconds, 0);
  EXPECT_GT(result.stats.tokens_per_second, 0);
  EXPECT_GT(result.stats.bytes_per_token, 260032 * 4);
  // A second one in the same session, whose prompt is held.
  const Generated again = continued(session, {.max_tokens = 40});
  EXPECT_EQ(again.ids, result.ids);
  EXPECT_EQ(again.stats.reused_tokens, 4);
}

TEST(Generate, SaysHowFarThePromptIsAndEndsThereWhenToldTo) {
  SKIP_WITHOUT(stories());
  Session session = open_stories();
  const std::vector<TokenId> prompt(400, 286);
  std::vector<int64_t> done;
  bool goes_on = true;
  const GenerateOptions options{.max_tokens = 1, .on_prompt = [&](int64_t now, int64_t total) {
                                  EXPECT_EQ(total, 400);
                                  done.push_back(now);
                                  return goes_on;
                                }};
  const Generated whole = generate(session, prompt, options);
  EXPECT_EQ(done, (std::vector<int64_t>{0, 256}));
  EXPECT_EQ(whole.ids, generate(session, prompt, {.max_tokens = 1}).ids);
  session.rewind(0);
  goes_on = false;
  const Generated ended = generate(session, prompt, options);
  EXPECT_EQ(ended.reason, EndReason::Cancelled);
  EXPECT_TRUE(ended.ids.empty());
}

TEST(Generate, GoesOnWithATextThatBeganBefore) {
  SKIP_WITHOUT(stories());
  Session session = open_stories();
  const Generated whole = continued(session, {.max_tokens = 12});
  const Generated begun = continued(session, {.max_tokens = 6});
  std::vector<TokenId> prompt = session.model().tokenizer().encode(kPrompt);
  prompt.insert(prompt.end(), begun.ids.begin(), begun.ids.end());
  const Generated rest = generate(session, prompt, {.max_tokens = 6, .continues = 6});
  EXPECT_EQ(begun.text + rest.text, whole.text);
}

TEST(Generate, EndsBeforeAStopString) {
  SKIP_WITHOUT(stories());
  Session session = open_stories();
  std::string streamed;
  const Generated result = continued(
      session,
      {.max_tokens = 40, .stop = {"no such", "girl named"}, .on_text = [&](std::string_view piece) {
         streamed += piece;
         return true;
       }});
  EXPECT_EQ(result.text, ", there was a little ");
  EXPECT_EQ(streamed, result.text);
  EXPECT_EQ(result.reason, EndReason::StopText);
  EXPECT_EQ(result.stop, "girl named");
}

TEST(Generate, EndsAtATokenWhenAskedToAndWhenTheContextIsFull) {
  SKIP_WITHOUT(stories());
  Session session = open_stories({.context = 16});
  // The third token of the story; its text isn't shown.
  const Generated stopped = continued(session, {.stop_ids = {286}});
  EXPECT_EQ(stopped.reason, EndReason::EndToken);
  EXPECT_EQ(stopped.ids, (std::vector<TokenId>{432, 383, 286}));
  EXPECT_EQ(stopped.text, ", there");
  int pieces = 0;
  const Generated cancelled =
      continued(session, {.on_text = [&](std::string_view) { return ++pieces < 2; }});
  EXPECT_EQ(cancelled.reason, EndReason::Cancelled);
  EXPECT_EQ(pieces, 2);
  const Generated full = continued(session, {});
  EXPECT_EQ(full.reason, EndReason::ContextFull);
  EXPECT_EQ(full.ids.size(), 12u);  // the last one needs no room
  EXPECT_TRUE(session.full());
  EXPECT_EQ(text(full.reason), "the context is full");
}

TEST(Generate, SeedsAndThreadsDecideNothingElse) {
  SKIP_WITHOUT(stories());
  Session one = open_stories();
  Session two = open_stories({.compile = {.backend = {.threads = 2}}});
  const auto sampled = [](Session& session, uint64_t seed) {
    return continued(session, {.sampling = {.temperature = 1, .top_p = 0.95, .seed = seed},
                               .max_tokens = 30})
        .ids;
  };
  EXPECT_EQ(sampled(one, 1), sampled(one, 1));
  EXPECT_NE(sampled(one, 1), sampled(one, 2));
  EXPECT_EQ(sampled(one, 1), sampled(two, 1));
  EXPECT_EQ(continued(one, {.max_tokens = 60}).ids, continued(two, {.max_tokens = 60}).ids);
}

TEST(Generate, ARepetitionPenaltyChangesWhatWouldRepeat) {
  SKIP_WITHOUT(stories());
  Session session = open_stories();
  const std::vector<TokenId> ids =
      session.model().tokenizer().encode("Lily and Ben went to the park");
  const Generated plain = generate(session, ids, {.max_tokens = 60});
  EXPECT_THAT(plain.text, HasSubstr("They wanted to play with the box. They wanted to play with"));
  const Generated varied =
      generate(session, ids, {.sampling = {.repeat_penalty = 1.5}, .max_tokens = 60});
  EXPECT_EQ(varied.text.find("They wanted to play with the box. They wanted to play with"),
            varied.text.npos);
}

TEST(Generate, AModelWithoutAChatTemplateTakesNoMessages) {
  SKIP_WITHOUT(stories());
  try {
    chat_prompt(Model::open(stories()), {{"user", "Hello"}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no chat template"));
  }
}

}  // namespace
}  // namespace luminal::llm

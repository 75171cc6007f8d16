#include "luminal/llm/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "tests/io/temporary_folder.h"
#include "tests/llm/models.h"

namespace luminal::llm {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Ids = std::vector<TokenId>;
using Logits = std::vector<float>;

// One thread: steps this small spend their time waiting for others where the machine is busy.
Session open(SessionOptions options = {}) {
  options.compile.backend.threads = 1;
  return Session(Model::open(stories()), options);
}

Logits prompt(Session& session, const Ids& ids) {
  const auto logits = session.prompt(ids);
  return {logits.begin(), logits.end()};
}

void expect_near(const Logits& a, const Logits& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-4f * (1 + std::abs(b[i]))) << "logit " << i;
  }
}

const Ids kText = {1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421};

TEST(Session, PiecesOfAPromptGiveWhatTheWholeGives) {
  SKIP_WITHOUT(stories());
  Session whole = open({.context = 64});
  const Logits expected = prompt(whole, kText);
  for (int64_t chunk : {1, 4, 12, 13}) {
    Session pieces = open({.context = 64, .chunk = chunk});
    expect_near(prompt(pieces, kText), expected);
    EXPECT_EQ(pieces.ids(), kText);
  }
  Session steps = open({.context = 64});
  Logits last = prompt(steps, {kText.front()});
  for (size_t i = 1; i < kText.size(); ++i) {
    const auto logits = steps.add(kText[i]);
    last.assign(logits.begin(), logits.end());
  }
  expect_near(last, expected);
}

// Rounded to bf16, tokens of nearly the same likelihood would tie.
TEST(Session, LogitsOfABf16ModelAreSumsInF32) {
  SKIP_WITHOUT(stories());
  Session session = open({.context = 64, .dtype = DType::BF16});
  const auto unrounded = [](float logit) { return (std::bit_cast<uint32_t>(logit) & 0xffff) != 0; };
  const Logits logits = prompt(session, kText);
  EXPECT_GT(std::ranges::count_if(logits, unrounded), static_cast<int64_t>(logits.size()) / 2);
}

TEST(Session, APromptKeepsWhatTheCacheSharesWithIt) {
  SKIP_WITHOUT(stories());
  Session session = open({.context = 64});
  const Logits first = prompt(session, kText);
  EXPECT_EQ(session.reused(), 0);
  Ids other(kText.begin(), kText.begin() + 6);
  other.insert(other.end(), {317, 269, 368});
  Session fresh = open({.context = 64});
  expect_near(prompt(session, other), prompt(fresh, other));
  EXPECT_EQ(session.reused(), 6);
  // The same again: its last token runs, for its logits.
  expect_near(prompt(session, other), prompt(fresh, other));
  EXPECT_EQ(session.reused(), 8);
  // A prefix of what is held, and from it the first text again.
  session.rewind(6);
  EXPECT_EQ(session.ids(), Ids(kText.begin(), kText.begin() + 6));
  expect_near(prompt(session, kText), first);
  EXPECT_EQ(session.reused(), 6);
  session.rewind(0);
  EXPECT_EQ(prompt(session, kText), first);
  EXPECT_EQ(session.reused(), 0);
}

TEST(Session, TheContextIsABound) {
  SKIP_WITHOUT(stories());
  Session session = open({.context = 8});
  EXPECT_EQ(session.context(), 8);
  const auto error = [](auto function) -> std::string {
    try {
      function();
    } catch (const UserError& found) {
      return found.what();
    }
    return "(no error)";
  };
  EXPECT_THAT(error([&] { session.prompt(kText); }),
              HasSubstr("has 13 tokens, the context has room for 8; shorten it, or ask for a "
                        "context of up to 512"));
  EXPECT_THAT(error([&] { session.prompt(Ids(600, 1)); }), HasSubstr("supports 512 at most"));
  EXPECT_THAT(error([&] { session.prompt(Ids{}); }), HasSubstr("at least one token"));
  EXPECT_THAT(error([&] { session.prompt(Ids{512}); }), HasSubstr("token 512 isn't in"));
  session.prompt(Ids(kText.begin(), kText.begin() + 7));
  EXPECT_THAT(error([&] { session.add(-1); }), HasSubstr("token -1 isn't in"));
  session.add(1);
  EXPECT_TRUE(session.full());
  EXPECT_THAT(error([&] { session.add(1); }), HasSubstr("the context of 8 tokens is full"));
  EXPECT_THAT(error([&] { session.rewind(9); }), HasSubstr("the cache holds 8"));
  EXPECT_THAT(error([] { open({.context = 513}); }), HasSubstr("supports at most 512"));
  EXPECT_THAT(error([] { open({.chunk = 0}); }), HasSubstr("the chunk size is 0 tokens"));
  EXPECT_THAT(error([] { open({.dtype = DType::I32}); }), HasSubstr("f32 or bf16, not in i32"));
}

TEST(Session, AnotherContextTakesTheSamePlans) {
  SKIP_WITHOUT(stories());
  TemporaryFolder folder;
  const auto plans_of = [&](int64_t context) {
    CompileReport report;
    Session session =
        open({.context = context,
              .compile = {.storage = {.cache_folder = folder.path()}, .report = &report}});
    EXPECT_EQ(session.context(), context);
    prompt(session, kText);
    std::vector<std::string> plans;
    for (const StageReport& stage : report.stages) {
      if (stage.name == "plan") plans.push_back(stage.summary);
    }
    return plans;
  };
  EXPECT_THAT(plans_of(64), Each(Not(HasSubstr("from the cache"))));
  EXPECT_THAT(plans_of(500), AllOf(SizeIs(2), Each(HasSubstr("from the cache"))));
}

TEST(Session, KnowsWhatAStepReads) {
  SKIP_WITHOUT(stories());
  const Session session = open({.context = 64});
  // 260,032 weights and 4 frequencies; five layers' keys and values of 32 elements.
  EXPECT_EQ(session.weight_bytes(), (260032 + 4) * 4);
  EXPECT_EQ(session.cache_bytes(10), 10 * 5 * 2 * 32 * 4);
}

TEST(Session, WhatCannotBeOpenedIsNamed) {
  const auto error = [](const std::string& path) -> std::string {
    try {
      Model::open(path);
    } catch (const UserError& found) {
      return found.what();
    }
    return "(no error)";
  };
  EXPECT_THAT(error("/no/such.gguf"), HasSubstr("there is no model '/no/such.gguf'"));
  EXPECT_THAT(error("/dev/null"), HasSubstr("'/dev/null' is not a model"));
  EXPECT_FALSE(looks_like_model("/dev/null"));
}

}  // namespace
}  // namespace luminal::llm

#include "luminal/io/gguf_vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "tests/io/gguf_builder.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

Gguf file_of(std::vector<std::string> metadata) {
  auto owner = std::make_shared<std::string>(GgufParts{.metadata = std::move(metadata)}.bytes());
  return Gguf::parse(std::as_bytes(std::span(*owner)), owner, "small.gguf");
}

std::string tokens() {
  return entry("tokenizer.ggml.tokens", GgufKind::Array,
               array_of(GgufKind::String, 2, counted("a") + counted("\xff")));
}

std::string error_of(const Gguf& file) {
  try {
    read_vocabulary(file);
  } catch (const UserError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(GgufVocabulary, HoldsWhatTheFileHoldsAndNothingElse) {
  const VocabularyData found = read_vocabulary(
      file_of({tokens(), entry("tokenizer.ggml.model", GgufKind::String, counted("llama")),
               entry("tokenizer.ggml.scores", GgufKind::Array,
                     array_of(GgufKind::F32, 2, raw(-1.5f) + raw(0.0f))),
               entry("tokenizer.ggml.token_type", GgufKind::Array,
                     array_of(GgufKind::I32, 2, raw(int32_t{1}) + raw(int32_t{6}))),
               entry("tokenizer.ggml.precompiled_charsmap", GgufKind::Array,
                     array_of(GgufKind::I8, 2, "\x01\xfe")),
               entry("tokenizer.ggml.eos_token_id", GgufKind::U32, raw(uint32_t{1})),
               entry("tokenizer.ggml.add_bos_token", GgufKind::Bool, raw(uint8_t{0}))}));
  EXPECT_EQ(found.source, "small.gguf");
  EXPECT_EQ(found.model, "llama");
  EXPECT_EQ(found.pre_tokenizer, "");
  EXPECT_THAT(found.tokens, ElementsAre("a", "\xff"));
  EXPECT_THAT(found.scores, ElementsAre(-1.5f, 0.0f));
  EXPECT_THAT(found.types, ElementsAre(1, 6));
  EXPECT_THAT(found.merges, IsEmpty());
  EXPECT_EQ(found.precompiled_charsmap, "\x01\xfe");
  EXPECT_THAT(found.eos, Optional(1u));
  EXPECT_EQ(found.bos, std::nullopt);
  EXPECT_THAT(found.add_bos, Optional(false));
  EXPECT_EQ(found.add_eos, std::nullopt);
}

TEST(GgufVocabulary, WhatIsNoneIsSaid) {
  EXPECT_EQ(
      error_of(file_of({})),
      "gguf: 'small.gguf': holds no tokenizer: it lacks the metadata 'tokenizer.ggml.tokens'");
  EXPECT_THAT(error_of(file_of({tokens(), entry("tokenizer.ggml.bos_token_id", GgufKind::I32,
                                                raw(int32_t{-1}))})),
              HasSubstr("'tokenizer.ggml.bos_token_id' holds -1, which is out of range"));
  EXPECT_THAT(error_of(file_of({tokens(), entry("tokenizer.ggml.model", GgufKind::U8, "a")})),
              HasSubstr("a string is expected"));
}

TEST(GgufVocabulary, RealFilesHaveTokenizers) {
  const std::filesystem::path models =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  if (!std::filesystem::exists(models)) {
    GTEST_SKIP() << "SKIPPED: there is no " << models << "; set LUMINAL_TEST_MODELS";
  }
  const auto read = [&](const char* path) {
    return read_vocabulary(Gguf::open((models / path).string()));
  };
  const VocabularyData smollm = read("smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf");
  EXPECT_EQ(smollm.model, "gpt2");
  EXPECT_EQ(smollm.pre_tokenizer, "smollm");
  EXPECT_EQ(smollm.tokens.size(), 49152u);
  EXPECT_EQ(smollm.merges.size(), 48900u);
  EXPECT_THAT(smollm.eos, Optional(2u));
  EXPECT_THAT(smollm.chat_template, HasSubstr("<|im_start|>"));
  EXPECT_EQ(read("tokenizers/llamacpp-vocabs/ggml-vocab-gpt-2.gguf").tokens.size(), 50257u);
  EXPECT_EQ(read("tokenizers/llamacpp-vocabs/ggml-vocab-bert-bge.gguf").model, "bert");
  const VocabularyData phi = read("tokenizers/llamacpp-vocabs/ggml-vocab-phi-3.gguf");
  EXPECT_EQ(phi.model, "llama");
  EXPECT_EQ(phi.scores.size(), phi.tokens.size());
}

}  // namespace
}  // namespace luminal

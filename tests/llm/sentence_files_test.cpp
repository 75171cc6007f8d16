#include "luminal/llm/sentence_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "luminal/base/errors.h"
#include "tests/io/temporary_folder.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

const std::string kTransformer =
    R"({"path": "", "type": "sentence_transformers.models.Transformer"})";
const std::string kPooling =
    R"({"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})";
const std::string kNormalize =
    R"({"path": "2_N", "type": "sentence_transformers.models.Normalize"})";

// A folder with these modules, and this as the pooling's config.json.
class Folder {
 public:
  Folder(const std::string& modules, const std::string& pooling) {
    std::filesystem::create_directories(folder_ / "1_Pooling");
    write("modules.json", modules);
    write("1_Pooling/config.json", pooling);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  SentenceFiles read() const { return read_sentence_files(folder_.path()); }
  std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

std::string list(const std::string& a, const std::string& b, const std::string& c = "") {
  return "[" + a + ", " + b + (c.empty() ? "" : ", " + c) + "]";
}

std::string error_of(const std::string& modules, const std::string& pooling) {
  try {
    Folder(modules, pooling).read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(SentenceFiles, SayHowToPool) {
  const std::string both = list(kTransformer, kPooling);
  const struct {
    std::string modules, pooling;
    PoolingMode mode;
    bool unit_length;
  } cases[] = {
      {both, R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})",
       PoolingMode::Mean, false},
      {list(kTransformer, kPooling, kNormalize), R"({"pooling_mode_cls_token": true})",
       PoolingMode::First, true},
      {both, R"({"pooling_mode_max_tokens": true})", PoolingMode::Max, false},
      {both, R"({"pooling_mode": "cls"})", PoolingMode::First, false},
      {both, R"({"pooling_mode": ["mean"], "pooling_mode_mean_tokens": true})", PoolingMode::Mean,
       false},
  };
  for (const auto& one : cases) {
    const SentenceFiles files = Folder(one.modules, one.pooling).read();
    ASSERT_TRUE(files.pooling) << one.pooling;
    EXPECT_EQ(files.pooling->mode, one.mode) << one.pooling;
    EXPECT_EQ(files.pooling->unit_length, one.unit_length) << one.pooling;
  }
}

TEST(SentenceFiles, MayBeAbsent) {
  const TemporaryFolder empty;
  const SentenceFiles files = read_sentence_files(empty.path());
  EXPECT_EQ(files.encoder, empty.path());
  EXPECT_EQ(files.pooling, std::nullopt);
  EXPECT_EQ(files.longest, std::nullopt);
  EXPECT_FALSE(files.lower_case);
}

TEST(SentenceFiles, SayWhereTheEncoderIsAndHowLongTextsMayBe) {
  Folder folder(list(R"({"path": "0_Encoder", "type": "Transformer"})", kPooling),
                R"({"pooling_mode": "mean"})");
  std::filesystem::create_directories(folder.path() + "/0_Encoder");
  folder.write("0_Encoder/sentence_bert_config.json",
               R"({"max_seq_length": 77, "do_lower_case": true})");
  const SentenceFiles files = folder.read();
  EXPECT_EQ(files.encoder, folder.path() + "/0_Encoder");
  EXPECT_THAT(files.longest, Optional(77));
  EXPECT_TRUE(files.lower_case);
}

TEST(SentenceFiles, WhatIsNotSupportedIsNamed) {
  const std::string both = list(kTransformer, kPooling);
  EXPECT_THAT(error_of(both, R"({"pooling_mode_lasttoken": true})"),
              HasSubstr("pools by 'lasttoken'; the mean of all tokens, the first token and"));
  EXPECT_THAT(error_of(both, R"({"pooling_mode": "mode"})"), HasSubstr("pools by 'mode'; the"));
  EXPECT_THAT(error_of(both, "{}"), HasSubstr("names no way of pooling"));
  EXPECT_THAT(
      error_of(both, R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})"),
      HasSubstr("pools in several ways at once (cls, mean); one is supported"));
  EXPECT_THAT(
      error_of(list(kTransformer, R"({"type": "sentence_transformers.models.Dense"})"), "{}"),
      HasSubstr("has the module 'Dense'; Transformer, Pooling and Normalize are supported"));
  for (const char* path : {"../other", "/etc", "1_Pooling/../.."}) {
    EXPECT_THAT(error_of(list(kTransformer,
                              R"({"type": "Pooling", "path": ")" + std::string(path) + R"("})"),
                         "{}"),
                HasSubstr("leaves the folder"));
  }
  EXPECT_THAT(error_of("{}", "{}"), HasSubstr("holds an object, but a list is expected"));
  EXPECT_THAT(error_of("[3]", "{}"), HasSubstr("holds an integer in its list"));
  EXPECT_THAT(error_of("[{}]", "{}"), HasSubstr("lacks '0.type'"));
}

}  // namespace
}  // namespace luminal::llm

#include "luminal/io/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "tests/io/temporary_folder.h"

namespace luminal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class ModelFolders : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void write_weights(const std::string& name, const std::string& tensor) {
    write_safetensors(folder_ / name, {{tensor, TensorData::zeros(DType::F32, {2, 3}).data}});
  }
  std::string error() {
    try {
      ModelFolder::open(folder_.path());
    } catch (const UserError& caught) {
      return caught.what();
    }
    return "(no error)";
  }

  TemporaryFolder folder_;
};

TEST_F(ModelFolders, HoldsConfigWeightsAndTheFilesOfItsTokenizer) {
  write("config.json", R"({"model_type": "llama"})");
  write("generation_config.json", R"({"temperature": 0.7})");
  write("tokenizer.json", "{}");
  write_weights("model.safetensors", "w");
  const ModelFolder model = ModelFolder::open(folder_.path());
  EXPECT_EQ(model.config.text_at("model_type"), "llama");
  EXPECT_EQ(model.generation_config->real_at("temperature"), 0.7);
  EXPECT_EQ(model.tensors.tensors().size(), 1u);
  EXPECT_THAT(model.tokenizer.tokenizer_json.value(), EndsWith("/tokenizer.json"));
  EXPECT_FALSE(model.tokenizer.tokenizer_model);
}

TEST_F(ModelFolders, ShardsAreFoundByTheirIndex) {
  write("config.json", "{}");
  write_weights("a.safetensors", "v");
  write_weights("b.safetensors", "w");
  write("model.safetensors.index.json",
        R"({"weight_map": {"v": "a.safetensors", "w": "b.safetensors"}})");
  const ModelFolder model = ModelFolder::open(folder_.path());
  EXPECT_EQ(model.tensors.tensors().size(), 2u);
  EXPECT_FALSE(model.generation_config);
}

TEST_F(ModelFolders, WhatIsMissingIsNamed) {
  EXPECT_THAT(error(), HasSubstr("the folder holds no config.json"));
  write("config.json", "{}");
  EXPECT_THAT(error(), HasSubstr("neither model.safetensors nor model.safetensors.index.json"));
  write("pytorch_model.bin", "");
  EXPECT_THAT(error(), HasSubstr("Python pickle, which can run code and isn't read"));
  write("model.safetensors", "");
  EXPECT_THAT(error(), HasSubstr("too few for the 8-byte header length"));
  write_weights("model.safetensors", "w");
  EXPECT_EQ(error(), "(no error)");
  write("generation_config.json", "[]");
  EXPECT_THAT(error(), HasSubstr("generation_config.json': holds a list"));
  write("config.json", "{");
  EXPECT_THAT(error(), HasSubstr("/config.json': isn't valid JSON"));
  EXPECT_THROW(ModelFolder::open(folder_ / "absent"), UserError);
}

TEST_F(ModelFolders, AnIndexCannotNameFilesElsewhere) {
  write("config.json", "{}");
  for (const char* shard : {"../x.safetensors", "/etc/passwd", "a/../../x", "./a", "a//b", "..",
                            "a\\\\b", "", "a\\u0000b"}) {
    write("model.safetensors.index.json",
          R"({"weight_map": {"w": ")" + std::string(shard) + R"("}})");
    EXPECT_THAT(error(), HasSubstr("it must lie in the folder of the index")) << shard;
  }
  write("model.safetensors.index.json", R"({"weight_map": {"w": "absent.safetensors"}})");
  EXPECT_THAT(error(), HasSubstr("absent.safetensors"));
}

TEST(RealModelFolders, Open) {
  const std::filesystem::path models =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  if (!std::filesystem::exists(models)) {
    GTEST_SKIP() << "SKIPPED: there is no " << models << "; set LUMINAL_TEST_MODELS";
  }
  const ModelFolder stories = ModelFolder::open((models / "stories260k").string());
  EXPECT_EQ(stories.config.text_at("model_type"), "llama");
  EXPECT_EQ(stories.config.int_at("hidden_size"), 64);
  EXPECT_TRUE(stories.tensors.find("model.embed_tokens.weight"));
  EXPECT_TRUE(stories.tokenizer.tokenizer_model && stories.tokenizer.tokenizer_json);
  const ModelFolder minilm = ModelFolder::open((models / "minilm-l6-v2").string());
  EXPECT_EQ(minilm.config.text_at("model_type"), "bert");
  EXPECT_TRUE(minilm.tokenizer.vocab_txt);
}

}  // namespace
}  // namespace luminal

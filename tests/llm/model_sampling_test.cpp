#include "luminal/llm/model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/llm/models.h"

namespace luminal::llm {
namespace {

namespace fs = std::filesystem;

// The files of a model with another generation_config.json; none where it is empty.
class Configured {
 public:
  explicit Configured(const std::string& generation) {
    folder_ = fs::temp_directory_path() / ("luminal_model_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const auto& file : fs::directory_iterator(stories())) {
      if (file.path().filename() == "generation_config.json") continue;
      fs::create_symlink(fs::absolute(file.path()), folder_ / file.path().filename());
    }
    if (!generation.empty()) std::ofstream(folder_ / "generation_config.json") << generation;
  }
  ~Configured() { fs::remove_all(folder_); }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;

  SamplingOptions sampling() const { return Model::open(folder_.string()).sampling(); }

 private:
  fs::path folder_;
};

TEST(ModelSampling, SamplesAsItsMakersSuggest) {
  SKIP_WITHOUT(stories());
  struct Case {
    const char* generation;
    double temperature;
    int64_t top_k;
    double top_p, min_p, repeat_penalty;
  };
  const Case cases[] = {
      {"", 0.7, 0, 0.95, 0.05, 1},
      {"{}", 0.7, 0, 0.95, 0.05, 1},
      {R"({"repetition_penalty": 1.1})", 0.7, 0, 0.95, 0.05, 1.1},
      {R"({"do_sample": false, "temperature": 0.6})", 0, 0, 1, 0, 1},
      {R"({"do_sample": true})", 1, 50, 1, 0, 1},
      {R"({"temperature": 0.6, "top_p": 0.9})", 0.6, 50, 0.9, 0, 1},
      {R"({"do_sample": true, "temperature": 0.2, "top_k": 20, "min_p": 0.1})", 0.2, 20, 1, 0.1, 1},
  };
  for (const Case& expected : cases) {
    const SamplingOptions sampling = Configured(expected.generation).sampling();
    EXPECT_EQ(sampling.temperature, expected.temperature) << expected.generation;
    EXPECT_EQ(sampling.top_k, expected.top_k) << expected.generation;
    EXPECT_EQ(sampling.top_p, expected.top_p) << expected.generation;
    EXPECT_EQ(sampling.min_p, expected.min_p) << expected.generation;
    EXPECT_EQ(sampling.repeat_penalty, expected.repeat_penalty) << expected.generation;
  }
}

}  // namespace
}  // namespace luminal::llm

// Where real models are, for tests that need them.
#pragma once

#include <filesystem>
#include <string>

#include "luminal/base/os/paths.h"

namespace luminal::llm {

inline std::filesystem::path folder_of(const char* model) {
  const std::filesystem::path models =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  return models / model;
}

inline std::string stories() { return folder_of("stories260k").string(); }
inline std::string smollm2() {
  return (folder_of("smollm2-135m-instruct") / "SmolLM2-135M-Instruct.Q4_1.gguf").string();
}

}  // namespace luminal::llm

#define SKIP_WITHOUT(path)                                                            \
  if (!std::filesystem::exists(path)) {                                               \
    GTEST_SKIP() << "SKIPPED: there is no " << (path) << "; set LUMINAL_TEST_MODELS"; \
  }

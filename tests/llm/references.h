// What transformers computes of random models: a script asks it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/process.h"
#include "tests/io/temporary_folder.h"

namespace luminal::llm {

// The script writes models and their results into the folder: their names. None where the tests'
// Python has no transformers.
inline std::optional<std::vector<std::string>> references_in(TemporaryFolder& folder,
                                                             const char* script) {
  constexpr int kNotThere = 77;
  const auto code = base::run_program(LUMINAL_PYTHON, {script, folder.path()});
  if (!code || *code == kNotThere) return std::nullopt;
  EXPECT_EQ(*code, 0);
  return folder.files();
}

}  // namespace luminal::llm

// What transformers computes of random models, for tests that are built with the names of a Python
// and of the script that asks it.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "luminal/base/os/process.h"
#include "tests/io/temporary_folder.h"

namespace luminal::llm {

// Written into a folder, a model and its results each: their names. None where that Python has no
// transformers.
inline std::optional<std::vector<std::string>> references_in(TemporaryFolder& folder) {
  constexpr int kNotThere = 77;
  const auto code = base::run_program(LUMINAL_PYTHON, {LUMINAL_REFERENCE, folder.path()});
  if (!code || *code == kNotThere) return std::nullopt;
  EXPECT_EQ(*code, 0);
  return folder.files();
}

}  // namespace luminal::llm

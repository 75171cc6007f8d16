// Baseline: a folder with the plans and machine code of the cases from one build, so that a later
// build can run the same kernels beside its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/bench/harness/progress.h"
#include "apps/bench/kernels/runner.h"

namespace luminal::bench {

struct BaselineCase {
  std::string name;  // as Task::name
  std::string file;  // in the folder
  int threads = 1;
};

struct Baseline {
  std::filesystem::path folder;
  Level level = Level::Micro;
  std::string made_by;  // version and fingerprint of the build
  std::string processor;
  std::vector<BaselineCase> cases;
};

// Compiles the tasks anew into a folder that only this user can write to; replaces what it held of
// this level. Skips tasks of backends that compile nothing. UserError if the folder can't be used.
Baseline write_baseline(const std::filesystem::path& folder, Level level,
                        const std::vector<Task>& tasks, const Progress& progress);

// UserError if there is none of this level, or if others could have changed it: its code will run.
Baseline read_baseline(const std::filesystem::path& folder, Level level);
std::string read_bundle(const Baseline& baseline, const BaselineCase& of);

}  // namespace luminal::bench

// A smaller program that fails too.
#pragma once

#include <functional>

#include "tests/foreign/program.h"

namespace luminal::tests::foreign {

// Leaves out outputs, updates, runs and settings, and gives inner values as inputs, as long as it
// still fails; tries at most so many programs.
Program shrink(const Program& program, const std::function<bool(const Program&)>& fails,
               int most_tries);

}  // namespace luminal::tests::foreign

// The elements of a program's leaves, run by run.
#pragma once

#include "tests/foreign/program.h"
#include "tests/foreign/random.h"

namespace luminal::tests::foreign {

void add_leaf_data(Program& program, Random& random);

}  // namespace luminal::tests::foreign

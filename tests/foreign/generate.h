// The generator: a program is its seed.
#pragma once

#include <cstdint>

#include "tests/foreign/program.h"

namespace luminal::tests::foreign {

Program generate(uint64_t seed);

}  // namespace luminal::tests::foreign

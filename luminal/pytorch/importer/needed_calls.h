// The calls of a program that its outputs need, so that what only training reads isn't in the way.
#pragma once

#include <vector>

#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// In order: those whose results are read, those that write in place, and those of operators outside
// of ATen, which may do anything.
std::vector<const Call*> needed_calls(const ExportedProgram& program);

}  // namespace luminal::pytorch

// Where the nodes of a graph come from: the user's calls, by operator, module and line.
#pragma once

#include <cstddef>

#include "luminal/pytorch/aten/arguments.h"
#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// UserError that names each operator which isn't supported, with its place.
void check_operators(const ExportedProgram& program);

// Labels the results that a call made, those from node `first_new` on: "silu layers.3.mlp
// model.py:12".
void label_results(const Call& call, const Values& results, size_t first_new);

}  // namespace luminal::pytorch

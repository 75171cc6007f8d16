// The input data of a case: deterministic on every machine.
#pragma once

#include <map>
#include <string>

#include "apps/bench/kernels/case.h"
#include "luminal/driver/executable.h"

namespace luminal::bench {

using Inputs = std::map<std::string, TensorData>;  // by leaf name

// Floats within the case's range, integers from 1 to 100; for leaves named "index", a random
// permutation of the rows.
Inputs make_inputs(const Case& of, const Graph& graph);

// Sets all leaves without copying. UserError if one has no data, or data of another type.
void set_inputs(Executable& executable, Graph& graph, const Inputs& inputs);

}  // namespace luminal::bench

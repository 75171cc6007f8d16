// The data of a case: the same for the same case, whoever asks, on every machine.
#pragma once

#include <map>
#include <string>

#include "apps/bench/kernels/case.h"
#include "luminal/driver/executable.h"

namespace luminal::bench {

using Inputs = std::map<std::string, TensorData>;  // by the name of the leaf

// Floats within the case's range, integers from 1 to 100, and for leaves called "index" each row
// once, in random order.
Inputs make_inputs(const Case& of, const Graph& graph);

// Sets all leaves, without a copy. UserError where one has no data, or data of another type.
void set_inputs(Executable& executable, Graph& graph, const Inputs& inputs);

}  // namespace luminal::bench

// Probes: what Tensor::print and Tensor::diff show after a run, on any backend.
#pragma once

#include <iosfwd>
#include <string>

#include "luminal/graph/graph.h"

namespace luminal {

// Shows `value`, the value of the tensor that messages call `tensor`.
void show_probe(const Probe& probe, const std::string& tensor, const TensorData& value,
                std::ostream& out);

}  // namespace luminal

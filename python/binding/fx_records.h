// What torch.compile traced, as records: luminal.torch makes them of FX graphs.
#pragma once

#include <map>

#include "binding/arrays.h"
#include "luminal/pytorch/exported_program.h"
#include "luminal/shape/index/affine_dim.h"

namespace luminal::python {

struct FxProgram {
  pytorch::ExportedProgram program;
  std::map<std::string, TensorData> constants;  // by path
  std::map<std::string, AffineDim> sizes;       // of each symbol: what it is of a variable
};

// Of a dict with the keys source, ranges, guards, inputs, calls, outputs and constants, as
// python/luminal/torch/records.py describes them. UserError that names what can't be read.
FxProgram read_fx_program(const nb::dict& records);

}  // namespace luminal::python

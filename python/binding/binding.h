// The parts of the Python module: each adds its names to it.
#pragma once

#include "binding/casters.h"

namespace luminal::python {

// A function of the library is a function of the module and, where its first argument is a tensor,
// a method of Tensor.
struct Module {
  nb::module_ module;
  nb::class_<Tensor> tensor;

  template <typename Function, typename... Extra>
  void both(const char* name, Function function, const Extra&... extra) {
    module.def(name, function, nb::arg("x"), extra...);
    tensor.def(name, function, extra...);
  }
};

void add_errors(nb::module_& module);
void add_values(nb::module_& module);  // DType, Expr
void add_arrays(nb::module_& module);  // Array
void add_graph(Module& module);        // Graph, and what makes tensors of one
void add_views(Module& module);        // methods of Tensor that compute nothing
void add_arithmetic(Module& module);   // operators and functions of two tensors
void add_math(Module& module);         // functions of one tensor
void add_reductions(Module& module);
void add_layers_of_tensors(Module& module);  // products, convolutions, norms, attention, losses
void add_nn(nb::module_& module);            // the submodule nn
void add_compile(nb::module_& module);       // compile(), Executable, CompileReport
void add_pytorch(nb::module_& module);       // .pt2 files
void add_torch_call(nb::module_& module);    // calls with PyTorch's tensors
void add_models(nb::module_& module);        // language models
void add_program(nb::module_& module);       // the command line

}  // namespace luminal::python

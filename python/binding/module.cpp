#include "binding/binding.h"
#include "luminal/version.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace luminal;
  module.attr("version") = LUMINAL_VERSION;
  python::add_errors(module);
  python::add_values(module);
  python::add_arrays(module);
  python::Module parts{
      .module = module,
      .tensor = nb::class_<Tensor>(
          module, "Tensor",
          "A value of a graph that isn't computed yet: a handle to one of its nodes.")};
  python::add_graph(parts);
  python::add_views(parts);
  python::add_arithmetic(parts);
  python::add_math(parts);
  python::add_reductions(parts);
  python::add_layers_of_tensors(parts);
  python::add_nn(module);
  python::add_compile(module);
  python::add_pytorch(module);
  python::add_torch_call(module);
  python::add_models(module);
  python::add_program(module);
}

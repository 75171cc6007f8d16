// PyTorch's programs as graphs.
#include "binding/binding.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::python {

void add_pytorch(nb::module_& module) {
  using pytorch::ImportedGraph;
  nb::class_<ImportedGraph>(module, "ImportedGraph", "A graph that was read from a file.")
      .def_ro("graph", &ImportedGraph::graph)
      .def_ro("inputs", &ImportedGraph::inputs, "In the order of the program's arguments.")
      .def_ro("outputs", &ImportedGraph::outputs, "In the order of its results.")
      .def_ro("guards", &ImportedGraph::guards, "What was assumed of sizes, as PyTorch writes it.");
  module.def(
      "import_pt2", [](nb::handle path) { return pytorch::import_pt2(path_of(path)); },
      nb::arg("path"),
      "The graph of a .pt2 file, which torch.export.save() wrote. No pickle is read.",
      nb::sig("def import_pt2(path: str | os.PathLike[str]) -> ImportedGraph"));
}

}  // namespace luminal::python

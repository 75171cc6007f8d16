// PyTorch's programs as graphs.
#include <nanobind/stl/tuple.h>

#include "binding/binding.h"
#include "binding/fx_records.h"
#include "luminal/graph/verify.h"
#include "luminal/pytorch/importer/import_program.h"

#include <tuple>

namespace luminal::python {
namespace {

using pytorch::ImportedGraph;

// Constants up to this many elements are part of the graph, so that the compiler sees them.
constexpr int64_t kLargestLiteral = 64;

// Of each symbol, (variable, scale, offset): it is scale * variable + offset.
using Sizes = std::map<std::string, std::tuple<std::string, int64_t, int64_t>>;

// A graph whose weights, states and inputs are given before it runs, and the sizes of its program.
std::pair<ImportedGraph, Sizes> import_records(const nb::dict& records) {
  const FxProgram read = read_fx_program(records);
  const auto data = [&](const std::string& path) { return read.constants.find(path); };
  const pytorch::LeafElements elements{
      .loader = [&](const std::string& path) -> DataLoader {
        const auto found = data(path);
        if (found == read.constants.end()) return nullptr;
        return [elements = found->second] { return elements; };
      },
      .literal = [&](const std::string& path) -> std::optional<TensorData> {
        const auto found = data(path);
        if (found == read.constants.end()) return std::nullopt;
        if (found->second.n_elements() > kLargestLiteral) return std::nullopt;
        return found->second;
      }};
  Sizes sizes;
  for (const auto& [symbol, size] : read.sizes) {
    sizes[symbol] = {std::string(size.variable.name()), size.scale, size.offset};
  }
  return {pytorch::import_program(read.program, elements), std::move(sizes)};
}

// The sizes that each run chooses.
std::vector<std::string> variable_names(const Graph& graph) {
  std::vector<std::string> names;
  for (Expr variable : variables(graph)) names.emplace_back(variable.name());
  return names;
}

}  // namespace

void add_pytorch(nb::module_& module) {
  // PyTorch keeps what it compiled beyond the end of the interpreter, which isn't a leak.
  nb::set_leak_warnings(false);
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
  module.def(
      "_import_records", &import_records, nb::arg("records"),
      "The graph of a program that torch.compile traced (luminal.torch.records), and of each "
      "of its sizes (variable, scale, offset).");
  module.def("_knows_operator", &pytorch::knows_operator, nb::arg("target"),
             "Whether an operator of PyTorch is known.");
  module.def("_variables", &variable_names, nb::arg("graph"), "The sizes that each run chooses.");
}

}  // namespace luminal::python

// Graph, and the functions that make tensors of one.
#include <fmt/format.h>

#include "binding/arrays.h"
#include "binding/binding.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/quantised.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/graphviz.h"
#include "luminal/graph/text_form.h"
#include "luminal/io/load_weights.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// The leaves of one role, in the order they were made.
nb::list leaves_of(Graph& graph, Role role) {
  nb::list found;
  for (NodeId leaf : graph.leaves()) {
    if (graph.node(leaf).as<InputAttr>().role == role) found.append(nb::cast(graph.tensor(leaf)));
  }
  return found;
}

nb::dict outputs_of(Graph& graph) {
  nb::dict found;
  for (const Output& output : graph.outputs()) {
    if (!output.name.empty()) found[output.name.c_str()] = nb::cast(graph.tensor(output.node));
  }
  return found;
}

std::string graph_repr(const Graph& graph) {
  return fmt::format("<luminal.Graph: {} nodes, {} leaves, {} outputs>", graph.size(),
                     graph.leaves().size(), graph.outputs().size());
}

std::shared_ptr<Graph> parsed(const std::string& text, const std::string& source) {
  std::shared_ptr<Graph> graph = Graph::shared();
  *graph = std::move(*parse_graph(text, source));
  return graph;
}

LoadReport load(Graph& graph, nb::handle file, const std::string& prefix) {
  const std::string path = path_of(file);
  const LoadOptions options{.prefix = prefix};
  if (path.ends_with(".gguf")) return load_weights(graph, Gguf::open(path), options);
  return load_weights(graph, SafeTensors::open(path), options);
}

}  // namespace

void add_graph(Module& parts) {
  nb::class_<LoadReport>(parts.module, "LoadReport", "What loading weights did.")
      .def_ro("loaded", &LoadReport::loaded, "Weights that now have elements.")
      .def_ro("cast", &LoadReport::cast, "Those whose dtype differs from the file's.")
      .def_ro("unexpected", &LoadReport::unexpected, "Tensors that no weight asked for.");

  nb::class_<Graph>(parts.module, "Graph",
                    "What is to be computed. It lives as long as one of its tensors does.")
      .def(nb::new_([] { return Graph::shared(); }))
      .def_static("parse", &parsed, "text"_a, "source"_a = "graph",
                  "Reads the text form, which str(graph) gives.")
      .def(
          "input",
          [](Graph& graph, std::string_view name, const Dims& dims, DTypeName dtype) {
            return graph.input(name, dims, dtype);
          },
          "name"_a, "dims"_a, "dtype"_a = "f32", "A leaf that is given for every run.")
      .def(
          "weight",
          [](Graph& graph, std::string_view name, const Dims& dims, DTypeName dtype) {
            return graph.weight(name, dims, dtype);
          },
          "name"_a, "dims"_a, "dtype"_a = "f32", "A leaf that is given once.")
      .def(
          "state",
          [](Graph& graph, std::string_view name, const Dims& dims, DTypeName dtype) {
            return graph.state(name, dims, dtype);
          },
          "name"_a, "dims"_a, "dtype"_a = "f32",
          "A leaf that is carried from run to run; see update().")
      .def("update", &Graph::update, "state"_a, "value"_a,
           "After a run, `state` holds `value`. Once per state.")
      .def(
          "constant",
          [](Graph& graph, const Scalar& value, DTypeName dtype) {
            return graph.constant(value, dtype);
          },
          "value"_a, "dtype"_a = "f32", "A scalar.")
      .def(
          "literal",
          [](Graph& graph, nb::handle values, std::optional<DTypeName> dtype) {
            std::optional<DType> wanted;
            if (dtype) wanted = *dtype;
            TensorData data = read_data(values, wanted);
            return graph.literal(wanted ? data.cast(*wanted) : data);
          },
          "values"_a, "dtype"_a.none() = nb::none(), "A tensor with known elements.",
          nb::sig("def literal(self, values: typing.Any, dtype: DType | str | None = None) -> "
                  "Tensor"))
      .def(
          "arange",
          [](Graph& graph, Size start, std::optional<Size> end, Size step, DTypeName dtype) {
            return arange(graph, end ? start.value : 0, end ? end->value : start.value, step,
                          dtype);
          },
          "start"_a, "end"_a.none() = nb::none(), "step"_a = 1, "dtype"_a = "i64",
          "Of one number: 0 to it.")
      .def(
          "full",
          [](Graph& graph, const Dims& dims, const Scalar& value, DTypeName dtype) {
            return full(graph, dims, value, dtype);
          },
          "dims"_a, "value"_a, "dtype"_a = "f32")
      .def(
          "zeros",
          [](Graph& graph, const Dims& dims, DTypeName dtype) { return zeros(graph, dims, dtype); },
          "dims"_a, "dtype"_a = "f32")
      .def(
          "ones",
          [](Graph& graph, const Dims& dims, DTypeName dtype) { return ones(graph, dims, dtype); },
          "dims"_a, "dtype"_a = "f32")
      .def(
          "eye",
          [](Graph& graph, Size rows, std::optional<Size> columns, DTypeName dtype) {
            return eye(graph, rows, columns.value_or(rows), dtype);
          },
          "rows"_a, "columns"_a.none() = nb::none(), "dtype"_a = "f32")
      .def("find", &Graph::find, "name"_a, "The leaf or output of this name, or None.")
      .def("load_weights", &load, "path"_a, "prefix"_a = "",
           "Gives every weight without elements those of a safetensors or GGUF file or a folder, "
           "by name.",
           nb::sig("def load_weights(self, path: str | os.PathLike[str], prefix: str = \"\") -> "
                   "LoadReport"))
      .def_prop_ro(
          "inputs", [](Graph& graph) { return leaves_of(graph, Role::Input); },
          nb::sig("def inputs(self) -> list[Tensor]"))
      .def_prop_ro(
          "weights", [](Graph& graph) { return leaves_of(graph, Role::Weight); },
          nb::sig("def weights(self) -> list[Tensor]"))
      .def_prop_ro(
          "states", [](Graph& graph) { return leaves_of(graph, Role::State); },
          nb::sig("def states(self) -> list[Tensor]"))
      .def_prop_ro("outputs", &outputs_of, "By name.",
                   nb::sig("def outputs(self) -> dict[str, Tensor]"))
      .def("graphviz", &to_graphviz, "A picture in Graphviz's language.")
      .def("__len__", &Graph::size)
      .def("__str__", &print_graph)
      .def("__repr__", &graph_repr);
}

}  // namespace luminal::python

// compile(), Executable and CompileReport.
#include "binding/binding.h"
#include "binding/compiled_graph.h"
#include "binding/options.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

std::string quoted_html(std::string_view text) {
  return nb::cast<std::string>(nb::module_::import_("html").attr("escape")(text));
}

std::string preformatted(std::string_view text) { return "<pre>" + quoted_html(text) + "</pre>"; }

void save(const View& view, const nb::object& path) {
  nb::module_::import_("pathlib").attr("Path")(path).attr("write_text")(
      view.html, nb::arg("encoding") = "utf-8");
}

void add_report(nb::module_& module) {
  nb::class_<CompileReport>(module, "CompileReport", "What a compile did, for people and programs.")
      .def("json", &CompileReport::json, "All of it.")
      .def_ro("notes", &CompileReport::notes, "What took a slower path, and why.")
      .def_ro("target", &CompileReport::target)
      .def_ro("machine", &CompileReport::machine)
      .def_prop_ro("n_kernels", [](const CompileReport& report) { return report.kernels.size(); })
      .def("__str__", &CompileReport::text)
      .def("_repr_html_", [](const CompileReport& report) { return preformatted(report.text()); });
  nb::class_<Page>(module, "Explanation", "Why each kernel is as it is.")
      .def("json", [](const Page& page) { return page.json; })
      .def("__str__", [](const Page& page) { return page.text; })
      .def("__repr__", [](const Page& page) { return page.text; })
      .def("_repr_html_", [](const Page& page) { return preformatted(page.text); });
  nb::class_<View>(module, "View", "The page of `luminal view`.")
      .def_ro("html", &View::html)
      .def("save", &save, "path"_a, nb::sig("def save(self, path: str | os.PathLike[str]) -> None"))
      .def("_repr_html_", [](const View& view) {
        return "<iframe style=\"width:100%;height:600px;border:0\" srcdoc=\"" +
               quoted_html(view.html) + "\"></iframe>";
      });
}

// run({"batch": 2}) and run(batch=2) are the same.
void run(CompiledGraph& graph, const std::optional<std::map<std::string, int64_t>>& sizes,
         bool check_kernels, const nb::kwargs& named) {
  std::map<std::string, int64_t> all = sizes.value_or(std::map<std::string, int64_t>());
  for (auto [name, value] : named) {
    int64_t size = 0;
    if (!nb::try_cast(value, size, false)) {
      throw nb::type_error("run() takes sizes of variables; set() takes arrays");
    }
    all[nb::cast<std::string>(name)] = size;
  }
  graph.run(all, check_kernels);
}

}  // namespace

void add_compile(nb::module_& module) {
  add_report(module);
  nb::class_<CompiledGraph>(module, "Executable", "A compiled graph with its weights and states.")
      .def("set", &CompiledGraph::set, "tensor"_a, "values"_a,
           "The elements of an input, weight or state. An array that is contiguous is shared.",
           nb::sig("def set(self, tensor: Tensor | str, values: typing.Any) -> None"))
      .def("get", &CompiledGraph::get, "tensor"_a,
           "The value of an output, a kept tensor or a leaf after run(); of a state, its new one.",
           nb::sig("def get(self, tensor: Tensor | str) -> Array"))
      .def("run", &run, "sizes"_a.none() = nb::none(), "check_kernels"_a = false, "named"_a,
           "One run with what was set, and with values for the variables: run(batch=2).",
           nb::sig("def run(self, sizes: collections.abc.Mapping[str, int] | None = None, "
                   "check_kernels: bool = False, **named: int) -> None"))
      .def("__call__", &CompiledGraph::call, "arguments"_a, "named"_a,
           "One run with arguments in the order of the inputs, or by name. Gives the output, or a "
           "tuple of them, in memory of their own.",
           nb::sig("def __call__(self, *arguments: typing.Any, **named: typing.Any) -> typing.Any"))
      .def("release_folded", &CompiledGraph::release_folded,
           "Frees weights that no run reads any more, since all that needs them is computed.")
      .def_prop_ro("report", &CompiledGraph::report, nb::rv_policy::reference_internal)
      .def("explain", &CompiledGraph::explain, "Why each kernel is as it is.")
      .def("view", &CompiledGraph::view, "All of the compile as one page.")
      .def_prop_ro("inputs", &CompiledGraph::input_names)
      .def_prop_ro("outputs", &CompiledGraph::output_names)
      .def("__repr__", &CompiledGraph::repr);
  module.def(
      "compile",
      [](const Graph& graph, const nb::kwargs& options) {
        return new CompiledGraph(graph, read_options(options));
      },
      "graph"_a, "options"_a, nb::rv_policy::take_ownership,
      "Compiles the graph as it is now. Options are those of luminal.options.CompileOptions.",
      nb::sig("def compile(graph: Graph, **options: "
              "typing.Unpack[luminal.options.CompileOptions]) -> Executable"));
}

}  // namespace luminal::python

// compile(), Executable and CompileReport.
#include <fmt/format.h>

#include <mutex>
#include <sstream>

#include "apps/inspect/view/page.h"
#include "apps/inspect/view/view_data.h"
#include "binding/arrays.h"
#include "binding/binding.h"
#include "binding/options.h"
#include "luminal/base/errors.h"
#include "luminal/driver/explain/explanation.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// A leaf or an output, as calls need it.
struct Port {
  std::string name;
  DType dtype;
  Dims dims;
};

// A tensor or a name.
struct Ref {
  std::optional<Tensor> tensor;
  std::string name;
  TensorRef ref() const { return tensor ? TensorRef(*tensor) : TensorRef(name); }
};

Ref ref_of(nb::handle value) {
  if (nb::isinstance<Tensor>(value)) return {.tensor = *nb::inst_ptr<Tensor>(value), .name = {}};
  if (nb::isinstance<nb::str>(value)) return {.tensor = {}, .name = nb::cast<std::string>(value)};
  throw nb::type_error("a tensor is given as such or by its name");
}

// The sizes that a call gives to variables, by the dims of its arguments.
class Sizes {
 public:
  void set(const std::string& name, int64_t value) { bindings_.set(name, value); }

  // Variables that stand alone as a dim; expressions of them are checked by the run.
  void take(const Port& port, const std::vector<int64_t>& dims) {
    if (dims.size() != port.dims.size()) return;  // set() says so
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (port.dims[axis].kind() != ExprKind::Var) continue;
      const std::string name(port.dims[axis].name());
      const auto known = bindings_.find(name);
      if (known && *known != dims[axis]) {
        throw UserError(fmt::format(
            "'{}': its dim {} is '{}', which is {} here and {} in another argument; give arrays "
            "whose sizes agree",
            port.name, axis, name, dims[axis], *known));
      }
      bindings_.set(name, dims[axis]);
    }
  }

  const Bindings& bindings() const { return bindings_; }

 private:
  Bindings bindings_;
};

std::string quoted_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string preformatted(std::string_view text) { return "<pre>" + quoted_html(text) + "</pre>"; }

// A text with a form for programs and one for notebooks.
struct Page {
  std::string text;
  std::string json;
};

// The page of `luminal view`.
struct View {
  std::string html;
};

class CompiledGraph {
 public:
  CompiledGraph(const Graph& graph, CompileOptions options)
      : graph_(graph.clone()), options_(std::move(options)) {
    for (NodeId leaf : graph_->leaves()) {
      const Node& node = graph_->node(leaf);
      const auto& input = node.as<InputAttr>();
      if (input.role == Role::Input) inputs_.push_back({input.name, node.dtype, node.dims});
    }
    for (const Output& output : graph_->outputs()) {
      const Node& node = graph_->node(output.node);
      if (!output.name.empty()) outputs_.push_back({output.name, node.dtype, node.dims});
    }
    CompileOptions asked = options_;
    asked.report = &report_;
    Waiting waiting(asked);
    nb::gil_scoped_release released;
    executable_.emplace(compile(graph, asked));
  }

  void set(nb::handle tensor, nb::handle values) {
    const Ref ref = ref_of(tensor);
    executable_->set(ref.ref(), read_data(values, dtype_wanted(ref)));
  }

  Array get(nb::handle tensor) const {
    const Ref ref = ref_of(tensor);
    return {.data = executable_->get_data(ref.ref()), .writable = true};
  }

  void run(const std::optional<std::map<std::string, int64_t>>& sizes, const nb::kwargs& named,
           bool check_kernels) {
    Bindings bindings;
    if (sizes) {
      for (const auto& [name, value] : *sizes) bindings.set(name, value);
    }
    for (auto [name, value] : named) {
      bindings.set(nb::cast<std::string>(name), nb::cast<int64_t>(value));
    }
    run(bindings, {.check_kernels = check_kernels});
  }

  // One call: arguments in, results out, in memory of their own.
  nb::object call(const nb::args& arguments, const nb::kwargs& named) {
    const Bindings bindings = set_arguments(arguments, named);
    std::vector<Array> results;
    for (const Port& output : outputs_) {
      Results made = make_results(output.dtype, sizes_of(output, bindings));
      executable_->bind_output(output.name, output.dtype, made.bytes);
      results.push_back(std::move(made.array));
    }
    const auto unbind = [&] {
      for (const Port& output : outputs_) executable_->unbind_output(output.name);
    };
    try {
      run(bindings, {});
    } catch (...) {
      unbind();
      throw;
    }
    unbind();
    if (results.size() == 1) return nb::cast(results[0]);
    nb::list all;
    for (const Array& result : results) all.append(nb::cast(result));
    return nb::tuple(all);
  }

  const CompileReport& report() const { return report_; }

  Page explain() const {
    CompileReport report;
    inspected(report, "");
    const Explanation explanation = luminal::explain(report, "graph");
    return {.text = text(explanation), .json = json(explanation)};
  }

  // Without runs.
  View view() const {
    CompileReport report;
    const CompileOptions asked = inspected(report, "rolled");
    const Trace trace;
    const view::Compiled compiled{"graph", *graph_, asked, report, trace, {}, {}};
    return {.html = view::make_page(view::view_data(compiled, {.wanted = true}))};
  }

  std::string repr() const {
    return fmt::format("<luminal.Executable: {} kernels for {}>", report_.kernels.size(),
                       report_.target);
  }

  std::vector<std::string> input_names() const { return names(inputs_); }
  std::vector<std::string> output_names() const { return names(outputs_); }

 private:
  static std::vector<std::string> names(const std::vector<Port>& ports) {
    std::vector<std::string> all;
    for (const Port& port : ports) all.push_back(port.name);
    return all;
  }

  // Of nested lists: they take the tensor's dtype.
  std::optional<DType> dtype_wanted(const Ref& ref) const {
    if (ref.tensor) return ref.tensor->dtype();
    const auto leaf = graph_->find_leaf(ref.name);
    return leaf ? std::optional(graph_->node(*leaf).dtype) : std::nullopt;
  }

  void run(const Bindings& bindings, const RunOptions& options) {
    nb::gil_scoped_release released;
    const std::scoped_lock alone(running_);
    executable_->run(bindings, options);
  }

  Bindings set_arguments(const nb::args& arguments, const nb::kwargs& named) {
    if (arguments.size() > inputs_.size()) {
      throw nb::type_error(fmt::format("the graph has {} inputs ({}), {} were given",
                                       inputs_.size(), fmt::join(input_names(), ", "),
                                       arguments.size())
                               .c_str());
    }
    Sizes sizes;
    const auto give = [&](const Port& port, nb::handle value) {
      TensorData data = read_data(value, port.dtype);
      sizes.take(port, data.dims);
      executable_->set(port.name, std::move(data));
    };
    for (size_t i = 0; i < arguments.size(); ++i) give(inputs_[i], arguments[i]);
    for (auto [key, value] : named) {
      const auto name = nb::cast<std::string>(key);
      const auto port = std::ranges::find(inputs_, name, &Port::name);
      if (port != inputs_.end()) {
        give(*port, value);
      } else {
        sizes.set(name, nb::cast<int64_t>(value));  // a variable that no input has as a dim
      }
    }
    return sizes.bindings();
  }

  static std::vector<int64_t> sizes_of(const Port& port, const Bindings& bindings) {
    std::vector<int64_t> dims;
    for (Expr dim : port.dims) {
      const Expr::Value value = dim.evaluate(bindings);
      if (!value.value) {
        throw UserError(fmt::format("output '{}': {}; give the sizes of variables by name",
                                    port.name, value.why));
      }
      dims.push_back(*value.value);
    }
    return dims;
  }

  // The same compile once more, with what is kept of it for people.
  CompileOptions inspected(CompileReport& report, const std::string& print_after) const {
    CompileOptions asked = options_;
    std::ostringstream unread;
    asked.inspect = {.print_after = print_after, .out = &unread, .find_rivals = true};
    asked.report = &report;
    Waiting waiting(asked);
    nb::gil_scoped_release released;
    compile(*graph_, asked);
    return options_;
  }

  std::unique_ptr<Graph> graph_;
  CompileOptions options_;
  CompileReport report_;
  std::vector<Port> inputs_, outputs_;
  std::optional<Executable> executable_;
  std::mutex running_;
};

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
      .def(
          "save",
          [](const View& view, const nb::object& path) {
            nb::module_::import_("pathlib").attr("Path")(path).attr("write_text")(view.html);
          },
          "path"_a)
      .def("_repr_html_", [](const View& view) {
        return "<iframe style=\"width:100%;height:600px;border:0\" srcdoc=\"" +
               quoted_html(view.html) + "\"></iframe>";
      });
}

}  // namespace

void add_compile(nb::module_& module) {
  add_report(module);
  nb::class_<CompiledGraph>(module, "Executable", "A compiled graph with its weights and states.")
      .def("set", &CompiledGraph::set, "tensor"_a, "values"_a,
           "The elements of an input, weight or state. An array that is contiguous is shared.",
           nb::sig("def set(self, tensor: Tensor | str, values: typing.Any) -> None"))
      .def("get", &CompiledGraph::get, "tensor"_a,
           "The value of an output, a kept tensor or a leaf; of a state, after the last run.",
           nb::sig("def get(self, tensor: Tensor | str) -> Array"))
      .def(
          "run",
          [](CompiledGraph& graph, const std::optional<std::map<std::string, int64_t>>& sizes,
             bool check_kernels,
             const nb::kwargs& named) { graph.run(sizes, named, check_kernels); },
          "sizes"_a.none() = nb::none(), "check_kernels"_a = false, "named"_a,
          "One run, with values for the variables: run(batch=2).",
          nb::sig("def run(self, sizes: collections.abc.Mapping[str, int] | None = None, "
                  "check_kernels: bool = False, **named: int) -> None"))
      .def("__call__", &CompiledGraph::call, "arguments"_a, "named"_a,
           "One run with arguments in the order of the inputs, or by name. Gives the output, or a "
           "tuple of them, in memory of their own.",
           nb::sig("def __call__(self, *arguments: typing.Any, **named: typing.Any) -> typing.Any"))
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

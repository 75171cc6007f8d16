#include "binding/compiled_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/inspect/view/page.h"
#include "apps/inspect/view/view_data.h"
#include "binding/options.h"
#include "luminal/base/errors.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/shape/index/affine_dim.h"

namespace luminal::python {
namespace {

[[noreturn]] void wrong_arguments(const std::string& message) {
  throw nb::type_error(message.c_str());
}

// The sizes that an argument gives to variables that a dim has alone, such as 4 * s + 1;
// expressions of several are checked by the run.
void take_sizes(const std::string& name, const Dims& dims, const TensorData& data,
                Bindings& sizes) {
  if (data.dims.size() != dims.size()) return;  // set() says so
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto dim = affine_dim(dims[axis]);
    if (!dim) continue;
    const std::string variable(dim->variable.name());
    const auto value = dim->solve(data.dims[axis]);
    if (!value) {
      throw UserError(fmt::format("'{}': its dim {} is {}, the graph takes {}", name, axis,
                                  data.dims[axis], dims[axis].text()));
    }
    const auto known = sizes.find(variable);
    if (known && *known != *value) {
      throw UserError(fmt::format(
          "'{}': its dim {} is '{}', which is {} here and {} in another argument; give arrays "
          "whose sizes agree",
          name, axis, variable, *value, *known));
    }
    sizes.set(variable, *value);
  }
}

std::vector<int64_t> dims_of(const std::string& name, const Dims& dims, const Bindings& sizes) {
  std::vector<int64_t> result;
  for (Expr dim : dims) {
    const Expr::Value value = dim.evaluate(sizes);
    if (!value.value) {
      throw UserError(
          fmt::format("output '{}': {}; give variables that no input has as a dim by "
                      "name",
                      name, value.why));
    }
    if (*value.value < 0) {
      throw UserError(
          fmt::format("output '{}': its dim {} would be {}", name, dim.text(), *value.value));
    }
    result.push_back(*value.value);
  }
  return result;
}

}  // namespace

CompiledGraph::CompiledGraph(const Graph& graph, CompileOptions options)
    : graph_(graph.clone()), source_(graph.home()), options_(std::move(options)) {
  for (NodeId leaf : graph_->leaves()) {
    const Node& node = graph_->node(leaf);
    const auto& input = node.as<InputAttr>();
    if (input.role == Role::Input) inputs_.push_back({input.name, leaf, node.dtype, node.dims});
  }
  for (const Output& output : graph_->outputs()) {
    const Node& node = graph_->node(output.node);
    if (output.name.empty()) continue;
    outputs_.push_back({output.name, output.node, node.dtype, node.dims});
    const auto same = std::ranges::find(outputs_, output.node, &Port::node);
    outputs_.back().first = static_cast<size_t>(same - outputs_.begin());
  }
  CompileOptions asked = options_;
  asked.report = &report_;
  Waiting waiting(asked);
  // The copy: other threads may change the graph meanwhile.
  nb::gil_scoped_release released;
  executable_.emplace(compile(*graph_, asked));
}

// As a tensor of the copy.
Tensor CompiledGraph::tensor_of(nb::handle value) const {
  if (nb::isinstance<nb::str>(value)) {
    const auto name = nb::cast<std::string>(value);
    if (const auto found = graph_->find_output(name)) return graph_->tensor(*found);
    if (const auto found = graph_->find_leaf(name)) return graph_->tensor(*found);
    throw UserError(fmt::format("there is no tensor '{}'; inputs: {}; outputs: {}", name,
                                fmt::join(input_names(), ", "), fmt::join(output_names(), ", ")));
  }
  if (!nb::isinstance<Tensor>(value)) {
    wrong_arguments("a tensor is given as such or by its name");
  }
  const Tensor& tensor = *nb::inst_ptr<Tensor>(value);
  if (tensor.home().get() != source_.get() || tensor.id().index() >= graph_->size()) {
    throw UserError(
        "the tensor isn't of the graph as it was compiled; compile that graph, or use "
        "a tensor of this one");
  }
  return graph_->tensor(tensor.id());
}

void CompiledGraph::set(nb::handle tensor, nb::handle values) {
  // A name is a leaf's where an output has it too.
  const auto leaf = nb::isinstance<nb::str>(tensor)
                        ? graph_->find_leaf(nb::cast<std::string>(tensor))
                        : std::nullopt;
  const Tensor of = leaf ? graph_->tensor(*leaf) : tensor_of(tensor);
  const TensorData data = read_data(values, of.dtype());
  turns_.take([&] {
    executable_->set(of, data);
    weights_by = nullptr;
  });
}

Array CompiledGraph::get(nb::handle tensor) {
  const Tensor of = tensor_of(tensor);
  return {.data = turns_.take([&] { return executable_->get_data(of); }), .writable = true};
}

void CompiledGraph::run(const std::map<std::string, int64_t>& sizes, bool check_kernels) {
  Bindings bindings;
  for (const auto& [name, value] : sizes) bindings.set(name, value);
  turns_.take([&] { executable_->run(bindings, {.check_kernels = check_kernels}); });
}

void CompiledGraph::release_folded() {
  turns_.take([&] { executable_->release_folded(); });
}

size_t CompiledGraph::input_named(const std::string& name) const {
  const auto found = std::ranges::find(inputs_, name, &Port::name);
  return static_cast<size_t>(found - inputs_.begin());
}

CompiledGraph::Arguments CompiledGraph::read_arguments(const nb::args& arguments,
                                                       const nb::kwargs& named) const {
  if (arguments.size() > inputs_.size()) {
    wrong_arguments(fmt::format("the graph has {} inputs ({}), {} were given", inputs_.size(),
                                fmt::join(input_names(), ", "), arguments.size()));
  }
  std::vector<std::optional<TensorData>> given(inputs_.size());
  Bindings sizes;
  const auto give = [&](size_t i, nb::handle value) {
    if (given[i]) wrong_arguments(fmt::format("input '{}' was given twice", inputs_[i].name));
    given[i] = read_data(value, inputs_[i].dtype);
    take_sizes(inputs_[i].name, inputs_[i].dims, *given[i], sizes);
  };
  for (size_t i = 0; i < arguments.size(); ++i) give(i, arguments[i]);
  for (auto [key, value] : named) {
    const auto name = nb::cast<std::string>(key);
    int64_t size = 0;
    if (const size_t i = input_named(name); i < inputs_.size()) {
      give(i, value);
    } else if (nb::try_cast(value, size, false)) {
      sizes.set(name, size);  // the run says where there is no such variable
    } else {
      wrong_arguments(fmt::format("there is no input '{}'; there are: {}", name,
                                  fmt::join(input_names(), ", ")));
    }
  }
  Arguments result{.inputs = {}, .sizes = sizes};
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) wrong_arguments(fmt::format("input '{}' is missing", inputs_[i].name));
    result.inputs.push_back(std::move(*given[i]));
  }
  return result;
}

std::vector<Results> CompiledGraph::make_all_results(const Bindings& sizes) const {
  std::vector<Results> all;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].first < i) {
      all.push_back({.array = all[outputs_[i].first].array, .bytes = {}});
    } else {
      all.push_back(
          make_results(outputs_[i].dtype, dims_of(outputs_[i].name, outputs_[i].dims, sizes)));
    }
  }
  return all;
}

nb::object CompiledGraph::call(const nb::args& arguments, const nb::kwargs& named) {
  Arguments given = read_arguments(arguments, named);
  std::vector<Results> results = make_all_results(given.sizes);
  // Whatever happens, nothing of this call stays bound.
  struct Unbound {
    CompiledGraph& graph;
    ~Unbound() {
      for (const Port& port : graph.outputs_) {
        graph.executable_->unbind_output(port.name);
      }
      for (const Port& port : graph.inputs_) {
        graph.executable_->unset(graph.graph_->tensor(port.node));
      }
    }
  };
  turns_.take([&] {
    const Unbound unbound{*this};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      executable_->set(graph_->tensor(inputs_[i].node), given.inputs[i]);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].first < i) continue;
      executable_->bind_output(outputs_[i].name, outputs_[i].dtype, results[i].bytes);
    }
    executable_->run(given.sizes);
  });
  if (results.size() == 1) return nb::cast(results[0].array);
  nb::list all;
  for (const Results& result : results) all.append(nb::cast(result.array));
  return nb::tuple(all);
}

Page CompiledGraph::explain() const {
  CompileReport report;
  inspected(report, "");
  const Explanation explanation = luminal::explain(report, "graph");
  return {.text = text(explanation), .json = json(explanation)};
}

// Without runs.
View CompiledGraph::view() const {
  CompileReport report;
  const CompileOptions asked = inspected(report, "rolled");
  const Trace trace;
  const view::Compiled compiled{"graph", *graph_, asked, report, trace, {}, {}};
  return {.html = view::make_page(view::view_data(compiled, {.wanted = true}))};
}

// The same compile once more, with what is kept of it for people. What was searched then is found
// in the records.
CompileOptions CompiledGraph::inspected(CompileReport& report,
                                        const std::string& print_after) const {
  CompileOptions asked = options_;
  std::ostringstream unread;
  if (asked.search.mode == SearchMode::Measured) asked.search.mode = SearchMode::Recorded;
  asked.inspect = {.print_after = print_after, .out = &unread, .find_rivals = true};
  asked.report = &report;
  Waiting waiting(asked);
  nb::gil_scoped_release released;
  compile(*graph_, asked);
  return options_;
}

std::string CompiledGraph::repr() const {
  return fmt::format("<luminal.Executable: {} kernels for {}>", report_.kernels.size(),
                     report_.target);
}

std::vector<std::string> CompiledGraph::input_names() const {
  std::vector<std::string> all;
  for (const Port& port : inputs_) all.push_back(port.name);
  return all;
}

std::vector<std::string> CompiledGraph::output_names() const {
  std::vector<std::string> all;
  for (const Port& port : outputs_) all.push_back(port.name);
  return all;
}

}  // namespace luminal::python

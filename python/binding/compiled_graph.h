// CompiledGraph: an executable as Python has it, which finds sizes in its arguments.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binding/arrays.h"
#include "binding/casters.h"
#include "binding/turns.h"
#include "luminal/driver/compile.h"

namespace luminal::python {

// What explain() gives: a text, with a form for programs.
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
  CompiledGraph(const Graph& graph, CompileOptions options);

  // Tensors are those of the graph that was compiled, or names.
  void set(nb::handle tensor, nb::handle values);
  Array get(nb::handle tensor);
  void run(const std::map<std::string, int64_t>& sizes, bool check_kernels);
  // One run with all inputs, in order or by name; variables that no input has as a dim by name. The
  // results are in memory of their own.
  nb::object call(const nb::args& arguments, const nb::kwargs& named);
  void release_folded();

  const CompileReport& report() const { return report_; }
  Page explain() const;
  View view() const;
  std::string repr() const;
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;

  // For TorchCall, which binds memory itself, in turns of this executable.
  const Graph& graph() const { return *graph_; }
  Executable& executable() { return *executable_; }
  Turns& turns() { return turns_; }
  // Who set the weights last; null where set() did.
  const void* weights_by = nullptr;

 private:
  // A leaf or an output, as calls need it.
  struct Port {
    std::string name;
    NodeId node;
    DType dtype;
    Dims dims;
    size_t first = 0;  // of outputs: the first one of the same node
  };
  struct Arguments {
    std::vector<TensorData> inputs;
    Bindings sizes;
  };

  Tensor tensor_of(nb::handle tensor) const;
  Arguments read_arguments(const nb::args& arguments, const nb::kwargs& named) const;
  size_t input_named(const std::string& name) const;
  // A result for each output; those of one node are one array.
  std::vector<Results> make_all_results(const Bindings& sizes) const;
  CompileOptions inspected(CompileReport& report, const std::string& print_after) const;

  std::unique_ptr<Graph> graph_;  // a copy, with the same ids
  std::shared_ptr<const GraphHome> source_;
  CompileOptions options_;
  CompileReport report_;
  std::vector<Port> inputs_, outputs_;
  std::optional<Executable> executable_;
  Turns turns_;
};

}  // namespace luminal::python

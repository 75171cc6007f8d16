// TorchCall: runs an executable on PyTorch's tensors where they are. It reads them through DLPack's
// exchange table, looks no name up, and allocates nothing but the results.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "binding/compiled_graph.h"
#include "binding/torch/dlpack_exchange.h"
#include "binding/torch/tensor_reader.h"
#include "luminal/runtime/buffer.h"
#include "luminal/shape/index/affine_dim.h"

namespace luminal::python {

class TorchCall {
 public:
  using Orders = std::map<std::string, std::vector<int>>;

  // `arguments` names what each argument of a call gives: an input, weight, state or variable of
  // the graph, an integer that a variable determines (4*s + 1), or nothing (""). `outputs` names
  // the results. `orders`: for arguments whose memory isn't in row-major order, the axes of the
  // tensor in the order that the leaf has them.
  TorchCall(CompiledGraph& compiled, const std::vector<std::string>& arguments,
            const std::vector<std::string>& outputs, const Orders& orders);

  // One run. Inputs and weights are read and states updated where they are.
  nb::list call(nb::handle arguments);
  // Reads the weights again in the next call: after changes that PyTorch doesn't count (`.data`).
  void refresh();
  // The arguments that the last call copied: their memory has strides, or isn't aligned.
  std::vector<std::string> copied() const;

 private:
  enum class Kind : uint8_t { Unused, Size, Input, Weight, State };
  // scale · a variable + offset, where `variable` is its place among sizes_.
  struct OfVariable {
    size_t variable = 0;
    AffineDim dim = {};
  };
  // A dim of a leaf: fixed, of one variable, or another expression, which the run checks.
  struct Axis {
    std::optional<int64_t> size = {};
    std::optional<OfVariable> of = {};
  };
  struct Argument {
    Kind kind = Kind::Unused;
    std::string name = {};
    size_t position = 0;  // in a call
    OfVariable size = {};
    ExecutablePort port = {};
    DType dtype = DType::F32;
    dlpack::DataType type = {};
    Dims declared = {};
    std::vector<Axis> axes = {};
    std::vector<int> order = {};  // none: as they are
    bool has_variables = false;
    bool is_known = false;  // what can't change between calls of one graph was checked

    // In this call: the tensor in the leaf's order of axes.
    PyObject* tensor = nullptr;
    std::byte* first = nullptr;
    size_t bytes = 0;
    std::vector<int64_t> dims = {}, strides = {};
    bool is_copied = false;
    TensorData given = {};     // what the executable gets, without its owner
    runtime::Buffer own = {};  // of copies

    // Of a weight, when it was bound: the tensor (a weak reference, as another tensor of this
    // memory counts its changes apart) and what PyTorch counted of its changes. The alias keeps its
    // memory from becoming another tensor's.
    nb::object source = {};
    const std::byte* bound_at = nullptr;
    std::optional<int64_t> version = {};
    std::vector<int64_t> bound_dims = {}, bound_strides = {};
    std::optional<BorrowedTensor> borrowed = {};
    int32_t torch_dtype = -1;
    std::shared_ptr<const void> alias = {};
  };
  struct Output {
    std::string name = {};
    ExecutablePort port = {};
    DType dtype = DType::F32;
    dlpack::DataType type = {};
    Dims declared = {};
    std::vector<int64_t> dims = {};
    std::optional<size_t> same = {};  // an earlier one of the same value
    nb::object result = {};           // in this call
  };
  struct Size {
    std::string name = {};
    int64_t value = 0;
    const Argument* given_by = nullptr;  // in this call
  };

  Argument make_argument(const std::string& name, size_t position, const Orders& orders);
  Output make_output(const std::string& name) const;
  void read(nb::handle arguments);
  void read_size(Argument& argument, PyObject* value);
  dlpack::TensorView view_of(const Argument& argument, PyObject* value) const;
  void look_at(Argument& argument, PyObject* value);
  bool is_as_bound(const Argument& argument, PyObject* value) const;
  std::optional<int64_t> version_of(PyObject* tensor) const;
  void check_once(Argument& argument) const;
  void take_dims(Argument& argument);
  std::optional<OfVariable> of_variable(Expr size) const;
  void take_size(const OfVariable& of, int64_t value, const Argument& by);
  void bind_weight(Argument& argument);
  void bind_state(Argument& argument);
  void bind_input(Argument& argument);
  bool is_over_a_state(const Argument& argument) const;
  std::span<std::byte> own_memory(Argument& argument);
  void make_results();
  void return_states();
  void unbind();
  [[noreturn]] void wrong(const Argument& argument, const std::string& what) const;

  CompiledGraph& compiled_;
  dlpack::Torch torch_;
  TensorReader reader_;
  nb::object increment_version_;
  nb::object version_;                  // the descriptor of Tensor._version
  descrgetfunc get_version_ = nullptr;  // its function: finding it takes as long as the call
  std::vector<Argument> arguments_;
  std::vector<size_t> inputs_, weights_, states_;  // among them
  std::vector<size_t> changed_;                    // weights that this call binds
  std::vector<Output> outputs_;
  std::vector<Size> sizes_;
  Bindings bindings_;
  bool dims_are_old_ = true;  // of the outputs
  bool warned_ = false;
  std::vector<nb::object> held_;  // in this call
};

}  // namespace luminal::python

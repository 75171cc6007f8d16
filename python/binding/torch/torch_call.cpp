#include "binding/torch/torch_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "binding/binding.h"
#include "luminal/base/errors.h"
#include "luminal/graph/strided_data.h"
#include "luminal/graph/verify.h"

namespace luminal::python {
namespace {

using runtime::Buffer;

constexpr std::array<Role, 3> kRoles = {Role::Input, Role::Weight, Role::State};

// The alias of a weight, as long as anyone reads its memory.
std::shared_ptr<const void> kept_alive(nb::object object) {
  return {object.release().ptr(), [](PyObject* held) {
            if (!Py_IsInitialized()) return;  // the process ends
            nb::gil_scoped_acquire locked;
            Py_DECREF(held);
          }};
}

std::string torch_dtype(PyObject* tensor) {
  return nb::repr(nb::handle(tensor).attr("dtype")).c_str();
}

}  // namespace

TorchCall::TorchCall(CompiledGraph& compiled, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& outputs, const Orders& orders)
    : compiled_(compiled), torch_(dlpack::find_torch()), reader_(nb::module_::import_("torch")) {
  increment_version_ = nb::module_::import_("torch").attr("_C").attr("_increment_version");
  version_ = torch_.tensor_type.attr("_version");
  get_version_ =
      reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(version_.ptr()), Py_tp_descr_get));
  if (get_version_ == nullptr) throw UserError("this PyTorch counts no changes of tensors");
  for (Expr variable : variables(compiled.graph())) {
    sizes_.push_back({.name = std::string(variable.name())});
  }
  std::set<std::string> names;
  for (const std::string& name : arguments) {
    if (!name.empty() && !names.insert(name).second) {
      throw UserError(fmt::format("'{}' is given by two arguments", name));
    }
    arguments_.push_back(make_argument(name, arguments_.size(), orders));
    auto* of_kind = arguments_.back().kind == Kind::Input    ? &inputs_
                    : arguments_.back().kind == Kind::Weight ? &weights_
                    : arguments_.back().kind == Kind::State  ? &states_
                                                             : nullptr;
    if (of_kind != nullptr) of_kind->push_back(arguments_.size() - 1);
  }
  for (const auto& [name, order] : orders) {
    if (!names.contains(name)) throw UserError(fmt::format("no argument gives '{}'", name));
  }
  for (const std::string& name : outputs) {
    outputs_.push_back(make_output(name));
    for (size_t i = 0; i + 1 < outputs_.size() && !outputs_.back().same; ++i) {
      if (outputs_[i].port == outputs_.back().port) outputs_.back().same = i;
    }
  }
  held_.reserve(arguments_.size());
  changed_.reserve(weights_.size());
}

TorchCall::Argument TorchCall::make_argument(const std::string& name, size_t position,
                                             const Orders& orders) {
  Argument made{.name = name, .position = position};
  if (name.empty()) return made;
  const Graph& graph = compiled_.graph();
  const auto leaf = graph.find_leaf(name);
  if (!leaf) {
    const auto size = of_variable(
        parse_expr(name, {.variables = variables(graph), .extents = {}, .declared_only = false}));
    if (!size) {
      throw UserError(fmt::format("the graph has no input, weight, state or variable '{}'", name));
    }
    made.kind = Kind::Size;
    made.size = *size;
    return made;
  }
  const Node& node = graph.node(*leaf);
  const auto role = std::ranges::find(kRoles, node.as<InputAttr>().role) - kRoles.begin();
  made.kind = std::array{Kind::Input, Kind::Weight, Kind::State}.at(static_cast<size_t>(role));
  made.port = compiled_.executable().leaf_port(name);
  made.dtype = node.dtype;
  if (kind(node.dtype) == DTypeKind::Packed) {
    throw UserError(
        fmt::format("'{}' is {}, which PyTorch doesn't have", name, luminal::name(node.dtype)));
  }
  made.type = dlpack::type_of(node.dtype);
  made.declared = node.dims;
  made.dims.resize(node.dims.size());
  made.strides.resize(node.dims.size());
  made.given.dtype = node.dtype;
  made.given.dims.resize(node.dims.size());
  for (Expr dim : node.dims) {
    made.axes.push_back({.size = dim.to_int(), .of = of_variable(dim)});
    made.has_variables = made.has_variables || made.axes.back().of;
  }
  if (const auto order = orders.find(name); order != orders.end()) {
    std::vector<int> sorted = order->second;
    std::ranges::sort(sorted);
    bool fits = sorted.size() == node.dims.size();
    for (size_t i = 0; fits && i < sorted.size(); ++i) fits = sorted[i] == static_cast<int>(i);
    if (!fits) {
      throw UserError(fmt::format("'{}' has {} axes, its order is ({}); name each axis once", name,
                                  node.dims.size(), fmt::join(order->second, ", ")));
    }
    made.order = order->second;
  }
  return made;
}

std::optional<TorchCall::OfVariable> TorchCall::of_variable(Expr size) const {
  const auto dim = affine_dim(size);
  if (!dim) return std::nullopt;
  const auto found = std::ranges::find(sizes_, std::string(dim->variable.name()), &Size::name);
  if (found == sizes_.end()) return std::nullopt;
  return OfVariable{static_cast<size_t>(found - sizes_.begin()), *dim};
}

TorchCall::Output TorchCall::make_output(const std::string& name) const {
  const Graph& graph = compiled_.graph();
  const auto found = graph.find_output(name);
  if (!found) {
    throw UserError(fmt::format("the graph has no output '{}'; it has: {}", name,
                                fmt::join(compiled_.output_names(), ", ")));
  }
  const Node& node = graph.node(*found);
  return {.name = name,
          .port = compiled_.executable().result_port(name),
          .dtype = node.dtype,
          .type = dlpack::type_of(node.dtype),
          .declared = node.dims,
          .dims = std::vector<int64_t>(node.dims.size()),
          .same = std::nullopt,
          .result = {}};
}

void TorchCall::wrong(const Argument& argument, const std::string& what) const {
  throw UserError(fmt::format("argument {} ('{}') {}", argument.position, argument.name, what));
}

void TorchCall::read(nb::handle arguments) {
  const bool is_list = PyList_Check(arguments.ptr());
  if (!is_list && !PyTuple_Check(arguments.ptr())) {
    throw nb::type_error("arguments are given as one list or tuple");
  }
  const auto given = [&](const Argument& argument) {
    const auto at = static_cast<Py_ssize_t>(argument.position);
    PyObject* item =
        is_list ? PyList_GetItem(arguments.ptr(), at) : PyTuple_GetItem(arguments.ptr(), at);
    if (item == nullptr) throw nb::python_error();
    return item;
  };
  const Py_ssize_t count = PySequence_Size(arguments.ptr());
  if (count != static_cast<Py_ssize_t>(arguments_.size())) {
    throw UserError(
        fmt::format("a call takes {} arguments, {} were given", arguments_.size(), count));
  }
  for (Size& size : sizes_) size.given_by = nullptr;
  changed_.clear();
  const bool are_ours = compiled_.weights_by == this;
  for (Argument& argument : arguments_) {
    if (argument.kind == Kind::Unused) continue;
    PyObject* value = given(argument);
    if (argument.kind == Kind::Size) {
      read_size(argument, value);
    } else if (argument.kind == Kind::Weight) {
      if (are_ours && is_as_bound(argument, value)) continue;
      look_at(argument, value);
      changed_.push_back(argument.position);
    } else {
      look_at(argument, value);
    }
  }
  for (const Size& size : sizes_) {
    if (size.given_by == nullptr || bindings_.find(size.name) == size.value) continue;
    bindings_.set(size.name, size.value);
    dims_are_old_ = true;
  }
}

void TorchCall::read_size(Argument& argument, PyObject* value) {
  int overflow = 0;
  const int64_t size = PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
  if (!PyLong_Check(value) || overflow != 0) {
    wrong(argument, "is the size of a dim; give an int");
  }
  take_size(argument.size, size, argument);
}

dlpack::TensorView TorchCall::view_of(const Argument& argument, PyObject* value) const {
  if (PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(torch_.tensor_type.ptr())) == 0) {
    wrong(argument, fmt::format("is a {}; give a tensor of PyTorch",
                                nb::type_name(nb::handle(value).type()).c_str()));
  }
  dlpack::TensorView view;
  if (torch_.table->look(value, &view) == 0) return view;
  const nb::python_error error;
  wrong(argument, fmt::format("can't be read: {}", error.what()));
}

std::optional<int64_t> TorchCall::version_of(PyObject* tensor) const {
  PyObject* counted =
      get_version_(version_.ptr(), tensor, reinterpret_cast<PyObject*>(Py_TYPE(tensor)));
  if (counted == nullptr) {
    PyErr_Clear();  // made under torch.inference_mode()
    return std::nullopt;
  }
  const int64_t version = PyLong_AsLongLong(counted);
  Py_DECREF(counted);
  return version;
}

// Whether a weight is the tensor that is bound, in the same memory, and wasn't changed. This is the
// path of most arguments.
bool TorchCall::is_as_bound(const Argument& argument, PyObject* value) const {
  if (argument.alias == nullptr || argument.has_variables || !argument.version) return false;
  if (PyWeakref_GetObject(argument.source.ptr()) != value) return false;
  if (argument.borrowed) {
    return reader_.lies_at(*argument.borrowed, argument.bound_at, argument.torch_dtype,
                           argument.bound_dims, argument.bound_strides) &&
           reader_.version(*argument.borrowed) == *argument.version;
  }
  const dlpack::TensorView view = view_of(argument, value);
  if (static_cast<std::byte*>(view.data) + view.byte_offset != argument.bound_at) return false;
  if (view.dtype != argument.type) return false;
  const auto rank = static_cast<size_t>(view.n_dims);
  return std::ranges::equal(std::span(view.shape, rank), argument.bound_dims) &&
         std::ranges::equal(std::span(view.strides, rank), argument.bound_strides) &&
         version_of(value) == argument.version;
}

void TorchCall::look_at(Argument& argument, PyObject* value) {
  const dlpack::TensorView view = view_of(argument, value);
  argument.tensor = value;
  held_.push_back(nb::borrow(value));
  if (view.device.type != dlpack::kCpu) wrong(argument, "isn't on the CPU; use .cpu()");
  if (view.dtype != argument.type) {
    wrong(argument, fmt::format("is {}, the graph was compiled for {}; convert it with .to()",
                                torch_dtype(value), name(argument.dtype)));
  }
  const size_t rank = argument.axes.size();
  if (static_cast<size_t>(view.n_dims) != rank) {
    wrong(argument, fmt::format("has {} dims, the graph was compiled for {}", view.n_dims,
                                text(argument.declared)));
  }
  argument.first = static_cast<std::byte*>(view.data) + view.byte_offset;
  argument.bytes = argument.type.bits / 8;
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t from = argument.order.empty() ? axis : static_cast<size_t>(argument.order[axis]);
    argument.dims[axis] = view.shape[from];
    argument.strides[axis] = view.strides[from];
    argument.bytes *= static_cast<size_t>(view.shape[from]);
  }
  if (!argument.is_known) check_once(argument);
  take_dims(argument);
}

// PyTorch's bits that say that elements aren't what memory holds. Guards of a graph cover them.
void TorchCall::check_once(Argument& argument) const {
  if (nb::cast<bool>(nb::handle(argument.tensor).attr("is_neg")())) {
    wrong(argument, "is a negative view; use .resolve_neg()");
  }
  argument.is_known = true;
}

void TorchCall::take_dims(Argument& argument) {
  for (size_t axis = 0; axis < argument.axes.size(); ++axis) {
    const Axis& expected = argument.axes[axis];
    if (expected.of) {
      take_size(*expected.of, argument.dims[axis], argument);
    } else if (expected.size && *expected.size != argument.dims[axis]) {
      wrong(argument, fmt::format("is [{}], the graph was compiled for {}",
                                  fmt::join(argument.dims, ", "), text(argument.declared)));
    }
  }
}

void TorchCall::take_size(const OfVariable& of, int64_t given, const Argument& by) {
  Size& size = sizes_[of.variable];
  const auto value = of.dim.solve(given);
  if (!value) {
    wrong(by, fmt::format("has the size {}, the graph was compiled for {}", given,
                          (of.dim.variable * of.dim.scale + of.dim.offset).text()));
  }
  if (size.given_by != nullptr && size.value != *value) {
    wrong(by,
          fmt::format("makes the size '{}' {}, argument {} ('{}') makes it {}; give tensors "
                      "whose sizes agree",
                      size.name, *value, size.given_by->position, size.given_by->name, size.value));
  }
  size.value = *value;
  size.given_by = &by;
}

std::span<std::byte> TorchCall::own_memory(Argument& argument) {
  if (!argument.own.valid() || argument.own.size() < argument.bytes) {
    argument.own = {};
    argument.own = Buffer::allocate(argument.bytes);
  }
  return argument.own.writable().first(argument.bytes);
}

void TorchCall::bind_weight(Argument& argument) {
  const std::optional<int64_t> version = version_of(argument.tensor);
  if (!version && !warned_) {
    warned_ = true;
    const std::string message = fmt::format(
        "luminal: PyTorch counts no changes of '{}', which was made under torch.inference_mode(): "
        "what depends on it is computed in every call; make models outside of it",
        argument.name);
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw nb::python_error();
  }
  // An alias: p.data = … changes the memory of p itself.
  auto alias = kept_alive(nb::handle(argument.tensor).attr("detach")());
  const TensorData data =
      row_major(argument.dtype, argument.dims, argument.strides, argument.first, alias);
  argument.is_copied = argument.bytes != 0 && data.bytes.data() != argument.first;
  compiled_.executable().set(argument.port, data);
  argument.alias = std::move(alias);
  argument.source = nb::steal(PyWeakref_NewRef(argument.tensor, nullptr));
  if (!argument.source.is_valid()) throw nb::python_error();
  argument.bound_at = argument.first;
  argument.version = version;
  argument.bound_dims.resize(argument.dims.size());
  argument.bound_strides.resize(argument.dims.size());
  for (size_t axis = 0; axis < argument.dims.size(); ++axis) {
    const size_t from = argument.order.empty() ? axis : static_cast<size_t>(argument.order[axis]);
    argument.bound_dims[from] = argument.dims[axis];
    argument.bound_strides[from] = argument.strides[axis];
  }
  argument.borrowed.reset();
  if (!version) return;
  argument.borrowed = reader_.borrow(argument.tensor, {.data = argument.bound_at,
                                                       .dims = argument.bound_dims,
                                                       .strides = argument.bound_strides,
                                                       .version = *version});
  if (argument.borrowed) argument.torch_dtype = reader_.dtype(*argument.borrowed);
}

void TorchCall::bind_state(Argument& argument) {
  std::span<std::byte> memory = {argument.first, argument.bytes};
  argument.is_copied = !is_row_major(argument.dims, argument.strides);
  if (argument.is_copied) {
    for (size_t axis = 0; axis < argument.dims.size(); ++axis) {
      if (argument.strides[axis] != 0 || argument.dims[axis] <= 1) continue;
      wrong(argument, "is expanded, so its elements share memory and can't be updated; clone it");
    }
    memory = own_memory(argument);
    copy_to_row_major(argument.dims, argument.strides, argument.type.bits / 8, argument.first,
                      memory.data());
  }
  compiled_.executable().bind_state(argument.port, argument.dtype, memory);
}

bool TorchCall::is_over_a_state(const Argument& argument) const {
  return std::ranges::any_of(states_, [&](size_t i) {
    const Argument& state = arguments_[i];
    return state.first < argument.first + argument.bytes &&
           argument.first < state.first + state.bytes;
  });
}

void TorchCall::bind_input(Argument& argument) {
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(argument.first) % (argument.type.bits / 8) == 0;
  argument.is_copied =
      argument.bytes != 0 &&
      (!is_aligned || !is_row_major(argument.dims, argument.strides) || is_over_a_state(argument));
  argument.given.bytes = {argument.first, argument.bytes};
  if (argument.is_copied) {
    const std::span<std::byte> memory = own_memory(argument);
    copy_to_row_major(argument.dims, argument.strides, argument.type.bits / 8, argument.first,
                      memory.data());
    argument.given.bytes = memory;
  }
  std::ranges::copy(argument.dims, argument.given.dims.begin());
  compiled_.executable().set(argument.port, argument.given);
}

void TorchCall::make_results() {
  if (dims_are_old_) {
    for (Output& output : outputs_) {
      for (size_t axis = 0; axis < output.dims.size(); ++axis) {
        const Expr::Value size = output.declared[axis].evaluate(bindings_);
        if (!size.value || *size.value < 0) {
          throw UserError(fmt::format("output '{}' has no size {}: {}; give arguments that fit",
                                      output.name, output.declared[axis].text(),
                                      size.value ? "it is negative" : size.why));
        }
        output.dims[axis] = *size.value;
      }
    }
    dims_are_old_ = false;
  }
  for (Output& output : outputs_) {
    if (output.same) continue;
    dlpack::NewTensor made = dlpack::make_tensor(*torch_.table, output.type, output.dims);
    size_t bytes = output.type.bits / 8;
    for (int64_t dim : output.dims) bytes *= static_cast<size_t>(dim);
    output.result = std::move(made.object);
    compiled_.executable().bind_output(output.port, output.dtype, {made.first, bytes});
  }
}

// Also tells PyTorch that they changed: other graphs may have folded them as weights.
void TorchCall::return_states() {
  if (states_.empty()) return;
  nb::list changed;
  for (size_t i : states_) {
    const Argument& state = arguments_[i];
    changed.append(nb::handle(state.tensor));
    if (!state.is_copied) continue;
    copy_from_row_major(state.dims, state.strides, state.type.bits / 8, state.own.bytes().data(),
                        state.first);
  }
  increment_version_(changed);
}

// Nothing of a call stays bound but weights.
void TorchCall::unbind() {
  Executable& executable = compiled_.executable();
  for (size_t i : inputs_) executable.unset(arguments_[i].port);
  for (size_t i : states_) executable.unbind_state(arguments_[i].port);
  for (Output& output : outputs_) {
    if (!output.same) executable.unbind_output(output.port);
    output.result.reset();
  }
  held_.clear();
}

void TorchCall::refresh() {
  const Turn turn(compiled_.turns());
  for (size_t i : weights_) arguments_[i].alias.reset();
}

nb::list TorchCall::call(nb::handle arguments) {
  const Turn turn(compiled_.turns());
  struct Unbound {
    TorchCall& call;
    ~Unbound() { call.unbind(); }
  } unbound{*this};
  read(arguments);
  if (compiled_.weights_by != this) compiled_.weights_by = nullptr;  // until all are bound
  for (size_t i : changed_) bind_weight(arguments_[i]);
  compiled_.weights_by = this;
  for (size_t i : states_) bind_state(arguments_[i]);
  for (size_t i : inputs_) bind_input(arguments_[i]);
  make_results();
  {
    nb::gil_scoped_release released;
    compiled_.executable().run(bindings_);
  }
  return_states();
  nb::list results;
  for (const Output& output : outputs_) {
    results.append(output.same ? outputs_[*output.same].result : output.result);
  }
  return results;
}

std::vector<std::string> TorchCall::copied() const {
  std::vector<std::string> names;
  for (const Argument& argument : arguments_) {
    const bool is_state = argument.kind == Kind::State;
    const bool is_unaligned = reinterpret_cast<uintptr_t>(argument.first) % Buffer::kAlignment != 0;
    if (argument.is_copied || (is_state && argument.bytes != 0 && is_unaligned)) {
      names.push_back(argument.name);
    }
  }
  return names;
}

void add_torch_call(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<TorchCall>(module, "TorchCall", nb::is_weak_referenceable(),
                        "Runs an executable on PyTorch's tensors where they are.")
      .def(nb::init<CompiledGraph&, const std::vector<std::string>&,
                    const std::vector<std::string>&, const TorchCall::Orders&>(),
           "compiled"_a, "arguments"_a, "outputs"_a, "orders"_a = TorchCall::Orders(),
           nb::keep_alive<1, 2>(),
           "What each argument gives: an input, weight, state or variable, or nothing (''). "
           "'orders' has the axes of tensors whose memory isn't in row-major order, as the leaf "
           "has them.")
      .def("call", &TorchCall::call, "arguments"_a,
           "One run. Inputs and weights are read and states updated where they are.",
           nb::sig("def call(self, arguments: list[typing.Any] | tuple[typing.Any, ...]) -> "
                   "list[typing.Any]"))
      .def("refresh", &TorchCall::refresh,
           "Reads the weights again in the next call: after changes that PyTorch doesn't count.")
      .def_prop_ro(
          "copied", &TorchCall::copied,
          "The arguments that the last call copied: they have strides, or aren't aligned.");
}

}  // namespace luminal::python

#include "luminal/driver/executable.h"

#include <fmt/format.h>

#include <iostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/driver/executable_impl.h"
#include "luminal/driver/probes.h"
#include "luminal/shape/resolve_dims.h"

namespace luminal {
namespace {

using runtime::Buffer;
using runtime::Port;
using runtime::PortRole;

std::string text_of(const std::vector<int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

// The sizes of a port under `bindings`; what can't be is the caller's to fix.
ResolvedDims resolve(const Port& port, const Bindings& bindings) {
  Result<ResolvedDims> dims = resolve_dims(port.dims, bindings);
  if (!dims) {
    throw UserError(
        fmt::format("run: {}: {}; bind its variables to values that fit", port.name, dims.why()));
  }
  return *dims;
}

std::string variables_text(const std::vector<Expr>& variables) {
  std::string out;
  for (Expr variable : variables) {
    out += fmt::format("{}{} ({} … {})", out.empty() ? "" : ", ", variable.text(),
                       variable.lower_bound(), variable.upper_bound());
  }
  return out.empty() ? "none" : out;
}

}  // namespace

Executable::Executable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

void Executable::Impl::check_owner(const Tensor& tensor, const char* asked) const {
  if (!tensor.valid()) {
    throw UserError(fmt::format("{}: the tensor is empty; use one of the compiled graph", asked));
  }
  if (&tensor.graph() != source || tensor.id().index() >= graph->size()) {
    throw UserError(
        fmt::format("{}: {} is not part of the graph as it was compiled; compile again after "
                    "changing the graph",
                    asked, tensor.describe()));
  }
}

size_t Executable::Impl::leaf_of(const Tensor& tensor, const char* asked) const {
  check_owner(tensor, asked);
  auto it = leaf_port.find(tensor.id());
  if (it == leaf_port.end()) {
    throw UserError(
        fmt::format("{} {}: only inputs, weights and states can be set; this is computed", asked,
                    graph->describe(tensor.id())));
  }
  return it->second;
}

void Executable::Impl::bind_data(size_t port, const TensorData& data) {
  const Port& wanted = program->ports()[port];
  if (data.dtype != wanted.dtype) {
    throw UserError(
        fmt::format("set '{}': it is {}, the data is {}; cast the data, or declare it "
                    "{} and cast in the graph",
                    wanted.name, name(wanted.dtype), name(data.dtype), name(data.dtype)));
  }
  bool fits = data.dims.size() == wanted.dims.size();
  for (size_t i = 0; fits && i < data.dims.size(); ++i) {
    std::optional<int64_t> dim = wanted.dims[i].to_int();
    fits = !dim || *dim == data.dims[i];
  }
  if (!fits) {
    throw UserError(fmt::format("set '{}': it is {}, the data is {}; reshape one of them",
                                wanted.name, text(wanted.dims), text_of(data.dims)));
  }
  slots[port] = {Buffer::borrow(data.bytes, data.owner), data.dims};
  // A run rewrites states in place, so they need bytes of their own.
  if (wanted.role == PortRole::State) slots[port].buffer = slots[port].buffer.copy();
}

void Executable::set(const Tensor& tensor, TensorData data) {
  impl_->bind_data(impl_->leaf_of(tensor, "set"), data);
}

void Executable::set(const Tensor& tensor, const NestedList& values) {
  const size_t port = impl_->leaf_of(tensor, "set");
  impl_->bind_data(port, values.data(impl_->program->ports()[port].dtype));
}

void Executable::set(const Tensor& tensor, std::initializer_list<NestedList> values) {
  set(tensor, NestedList(values));
}

void Executable::set_bytes(const Tensor& tensor, DType dtype, std::span<const std::byte> bytes) {
  const size_t at = impl_->leaf_of(tensor, "set");
  const Port& port = impl_->program->ports()[at];
  const auto count = static_cast<int64_t>(bytes.size()) / byte_size(dtype, 1);
  TensorData data = TensorData::copy_bytes(dtype, bytes, {count});
  // The 16-bit floats have no C++ type of their own, so they take f32 and round.
  if (dtype == DType::F32 && (port.dtype == DType::F16 || port.dtype == DType::BF16)) {
    data = data.cast(port.dtype);
  }
  if (data.dtype != port.dtype) {
    throw UserError(fmt::format("set '{}': it is {}, the data is {}; give {} values", port.name,
                                name(port.dtype), name(dtype), name(port.dtype)));
  }
  std::optional<int64_t> wanted = n_elements(port.dims).to_int();
  if (wanted && *wanted != count) {
    throw UserError(fmt::format("set '{}': {} has {} elements, {} were given", port.name,
                                text(port.dims), *wanted, count));
  }
  Buffer buffer = Buffer::borrow(data.bytes, data.owner);
  if (port.role == PortRole::State) buffer = buffer.copy();
  impl_->slots[at] = {std::move(buffer), std::nullopt};
}

void Executable::Impl::check_bindings(const Bindings& bindings) const {
  for (Expr variable : variables) {
    std::optional<int64_t> value = bindings.find(variable.name());
    if (!value) {
      throw UserError(fmt::format(
          "run: variable '{}' is not bound; run({{{{\"{}\", value}}}}) with {} "
          "≤ value ≤ {}",
          variable.name(), variable.name(), variable.lower_bound(), variable.upper_bound()));
    }
    if (*value < variable.lower_bound() || *value > variable.upper_bound()) {
      throw UserError(
          fmt::format("run: variable '{}' = {} is outside its bounds {} … {}; declare "
                      "wider bounds in Expr::var, or bind another value",
                      variable.name(), *value, variable.lower_bound(), variable.upper_bound()));
    }
  }
  for (const auto& [bound, value] : bindings.items()) {
    bool known = false;
    for (Expr variable : variables) known = known || variable.name() == bound;
    if (!known) {
      throw UserError(fmt::format("run: the graph has no variable '{}'; it has: {}", bound,
                                  variables_text(variables)));
    }
  }
}

void Executable::Impl::prepare_port(size_t at, const Bindings& bindings) {
  const Port& port = program->ports()[at];
  Slot& slot = slots[at];
  const ResolvedDims resolved = resolve(port, bindings);
  const std::vector<int64_t>& dims = resolved.sizes;
  const size_t size = resolved.bytes(port.dtype);
  switch (port.role) {
    case PortRole::Output:
      if (slot.buffer.size() != size || !slot.buffer.valid()) slot.buffer = Buffer::allocate(size);
      slot.dims = dims;
      return;
    case PortRole::State:
      if (!slot.buffer.valid()) slot = {Buffer::allocate(size), dims};
      break;
    case PortRole::Input:
    case PortRole::Weight:
      if (!slot.buffer.valid()) {
        throw UserError(fmt::format("run: {} '{}' {}{} was not set; call set() before run()",
                                    port.role == PortRole::Input ? "input" : "weight", port.name,
                                    name(port.dtype), text(port.dims)));
      }
      break;
  }
  if (slot.dims ? *slot.dims != dims : slot.buffer.size() != size) {
    const std::string found =
        slot.dims ? text_of(*slot.dims)
                  : fmt::format("{} elements",
                                slot.buffer.size() * 8 / static_cast<size_t>(bits(port.dtype)));
    throw UserError(
        fmt::format("run: '{}' {} is {} in this run, but it was set with {}; set it "
                    "again or bind other values",
                    port.name, text(port.dims), text_of(dims), found));
  }
  slot.dims = dims;
}

void Executable::Impl::run(const Bindings& bindings, const RunOptions& options) {
  check_bindings(bindings);
  for (size_t port = 0; port < slots.size(); ++port) prepare_port(port, bindings);
  std::vector<Buffer> buffers;
  buffers.reserve(slots.size());
  for (const Slot& slot : slots) buffers.push_back(slot.buffer);
  std::ostream& out = options.out != nullptr ? *options.out : std::cout;
  const runtime::StepOptions steps{.debug = options.debug ? &out : nullptr};
  if (options.trace != nullptr || options.check_kernels) {
    run_watched(bindings, buffers, options, steps);
  } else {
    program->run(bindings, buffers, steps);
  }
  for (const Probe& probe : graph->probes()) {
    show_probe(probe, graph->describe(probe.node), port_data(result_port.at(probe.node)), out);
  }
}

void Executable::run(const Bindings& bindings, const RunOptions& options) {
  impl_->run(bindings, options);
}

void Executable::run(const RunOptions& options) { impl_->run({}, options); }

TensorData Executable::Impl::port_data(size_t port) const {
  const Slot& slot = slots[port];
  return TensorData{.dtype = program->ports()[port].dtype,
                    .dims = slot.dims.value(),
                    .bytes = slot.buffer.bytes(),
                    .owner = slot.buffer.owner()};
}

TensorData Executable::get_data(const Tensor& tensor) const {
  const Impl& impl = *impl_;
  impl.check_owner(tensor, "get");
  auto result = impl.result_port.find(tensor.id());
  auto leaf = impl.leaf_port.find(tensor.id());
  if (result == impl.result_port.end() && leaf == impl.leaf_port.end()) {
    throw UserError(
        fmt::format("get {}: its value isn't kept; call keep() or output() on it before compile()",
                    impl.graph->describe(tensor.id())));
  }
  // A leaf's own slot is newer than a copy of it made by a run.
  const size_t port = leaf != impl.leaf_port.end() ? leaf->second : result->second;
  if (!impl.slots[port].buffer.valid() || !impl.slots[port].dims) {
    throw UserError(fmt::format("get {}: it has no value yet; call run() first",
                                impl.graph->describe(tensor.id())));
  }
  TensorData data = impl.port_data(port);
  return TensorData::copy_bytes(data.dtype, data.bytes, data.dims);
}

std::string Executable::print(const Tensor& tensor) const {
  return luminal::print(get_data(tensor));
}

Executable Executable::clone() const {
  auto copy = std::make_unique<Impl>();
  copy->graph = impl_->graph;
  copy->source = impl_->source;
  copy->program = impl_->program->clone();
  copy->leaf_port = impl_->leaf_port;
  copy->result_port = impl_->result_port;
  copy->variables = impl_->variables;
  copy->notes = impl_->notes;
  copy->slots.resize(impl_->slots.size());
  for (size_t port = 0; port < impl_->slots.size(); ++port) {
    const Impl::Slot& slot = impl_->slots[port];
    switch (copy->program->ports()[port].role) {
      case PortRole::Weight:
        copy->slots[port] = slot;
        break;
      case PortRole::State:
        copy->slots[port] = {slot.buffer.copy(), slot.dims};
        break;
      case PortRole::Input:
      case PortRole::Output:
        break;
    }
  }
  return Executable(std::move(copy));
}

}  // namespace luminal

#include "luminal/driver/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/driver/execute/executable_impl.h"
#include "luminal/driver/execute/probes.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

using runtime::Buffer;
using runtime::Port;
using runtime::PortRole;

std::string text_of(const std::vector<int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

// The dims of a port under `bindings`; UserError if there are none.
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

Executable::Impl& Executable::impl() const {
  if (impl_ == nullptr) {
    throw UserError("this Executable was moved from; use the one it was moved to");
  }
  return *impl_;
}

void Executable::Impl::bind_data(size_t port, const TensorData& data) {
  const Port& wanted = ports()[port];
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
  hold(port, Buffer::borrow(data.bytes, data.owner), &data.dims);
}

// Allocates nothing for an input or weight that was set before.
void Executable::Impl::hold(size_t port, Buffer buffer, const std::vector<int64_t>* dims) {
  const PortRole role = ports()[port].role;
  if (role == PortRole::State && slots[port].caller) {
    const std::span<std::byte> memory = *slots[port].caller;
    if (buffer.size() != memory.size()) {
      throw UserError(fmt::format(
          "set '{}': {} bytes were given, the memory bound to it has {}; bind other memory",
          ports()[port].name, buffer.size(), memory.size()));
    }
    if (!memory.empty()) std::memmove(memory.data(), buffer.bytes().data(), memory.size());
    return;
  }
  // A run rewrites states in place, so they need bytes of their own.
  buffers[port] = role == PortRole::State ? buffer.copy() : std::move(buffer);
  if (dims == nullptr) {
    slots[port].given.reset();
  } else if (slots[port].given) {
    slots[port].given->assign(dims->begin(), dims->end());
  } else {
    slots[port].given = *dims;
  }
  slots[port].ready = false;
  slots[port].released = false;
  if (role != PortRole::Weight) return;
  // Folded values are recomputed, from all of their weights.
  for (Slot& slot : slots) {
    slot.ready = slot.ready && !slot.released;
    slot.released = false;
  }
  for (const auto& program : programs) program->weights_changed();
}

// Whether a port is a weight that no run reads.
std::vector<bool> Executable::Impl::folded_ports() const {
  std::vector<bool> folded(slots.size());
  for (size_t port = 0; port < folded.size(); ++port) {
    folded[port] = ports()[port].role == PortRole::Weight;
  }
  for (const auto& program : programs) {
    const std::vector<bool> read = program->reads();
    for (size_t port = 0; port < folded.size(); ++port) {
      if (read[port]) folded[port] = false;
    }
  }
  return folded;
}

void Executable::release_folded() {
  const std::vector<bool> folded = impl().folded_ports();
  for (size_t port = 0; port < impl().slots.size(); ++port) {
    if (!impl().buffers[port].valid() || !folded[port]) continue;
    impl().buffers[port] = {};
    impl().slots[port].released = true;
  }
}

void Executable::unset(const TensorRef& input) {
  const size_t port = impl().leaf_of(input, "unset");
  if (impl().ports()[port].role != PortRole::Input) {
    throw UserError(fmt::format("unset '{}': only inputs can be; weights are released",
                                impl().ports()[port].name));
  }
  impl().buffers[port] = {};
  impl().slots[port].ready = false;
}

void Executable::release(const TensorRef& weight) {
  const size_t port = impl().leaf_of(weight, "release");
  if (!impl().folded_ports()[port]) {
    throw UserError(fmt::format(
        "release '{}': runs read it; only weights whose values are all folded can be released, "
        "after a first run (of each variant)",
        impl().ports()[port].name));
  }
  impl().buffers[port] = {};
  impl().slots[port].released = true;
}

void Executable::set(const TensorRef& tensor, const TensorData& data) {
  impl().bind_data(impl().leaf_of(tensor, "set"), data);
}

void Executable::set(const TensorRef& tensor, const NestedList& values) {
  const size_t port = impl().leaf_of(tensor, "set");
  impl().bind_data(port, values.data(impl().ports()[port].dtype));
}

void Executable::set(const TensorRef& tensor, std::initializer_list<NestedList> values) {
  set(tensor, NestedList(values));
}

void Executable::set_bytes(const TensorRef& tensor, DType dtype, std::span<const std::byte> bytes) {
  const size_t at = impl().leaf_of(tensor, "set");
  const Port& port = impl().ports()[at];
  const auto count = static_cast<int64_t>(bytes.size()) / byte_size(dtype, 1);
  TensorData data = TensorData::copy_bytes(dtype, bytes, {count});
  // The 16-bit floats have no C++ type of their own, so they take f32 and round.
  if (dtype == DType::F32 && is_half(port.dtype)) {
    data = data.cast(port.dtype);
  }
  if (data.dtype != port.dtype) {
    throw UserError(fmt::format("set '{}': it is {}, the data is {}; give {} values", port.name,
                                name(port.dtype), name(dtype), name(port.dtype)));
  }
  std::optional<int64_t> wanted = n_elements(port.dims).to_int();
  if (wanted && *wanted != count) {
    throw UserError(fmt::format("set '{}': {} has {} elements, {} were given; give all of them",
                                port.name, text(port.dims), *wanted, count));
  }
  impl().hold(at, Buffer::borrow(data.bytes, data.owner), nullptr);
}

void Executable::Impl::check_bindings(const Bindings& bindings) const {
  for (const auto& [given, value] : bindings.items()) {
    bool known = false;
    for (Expr variable : variables) known = known || variable.name() == given;
    if (!known) {
      throw UserError(
          fmt::format("run: the graph has no variable '{}'; it has: {}; bind only these", given,
                      variables_text(variables)));
    }
  }
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
}

const std::vector<int64_t>* Executable::Impl::dims_of(size_t port) const {
  const Slot& slot = slots[port];
  if (slot.ready) return &slot.now.sizes;
  return slot.given ? &*slot.given : nullptr;
}

void Executable::Impl::prepare_port(size_t at) {
  const Port& port = ports()[at];
  Slot& slot = slots[at];
  if (slot.released) return;
  Buffer& buffer = buffers[at];
  const size_t size = slot.now.bytes(port.dtype);
  switch (port.role) {
    case PortRole::Output:
      return prepare_output(at);
    case PortRole::State:
      if (slot.caller) return prepare_bound_state(at);
      if (!buffer.valid()) {
        buffer = Buffer::allocate(size);
        slot.given = slot.now.sizes;
      }
      break;
    case PortRole::Input:
    case PortRole::Weight:
      if (!buffer.valid()) {
        throw UserError(fmt::format("run: {} '{}' {}{} was not set; call set() before run()",
                                    port.role == PortRole::Input ? "input" : "weight", port.name,
                                    name(port.dtype), text(port.dims)));
      }
      break;
  }
  if (slot.given ? *slot.given != slot.now.sizes : buffer.size() != size) {
    const std::string found =
        slot.given
            ? text_of(*slot.given)
            : fmt::format("{} elements", buffer.size() * 8 / static_cast<size_t>(bits(port.dtype)));
    throw UserError(
        fmt::format("run: '{}' {} is {} in this run, but it was set with {}; set it "
                    "again or bind other values",
                    port.name, text(port.dims), text_of(slot.now.sizes), found));
  }
  slot.ready = true;
}

void Executable::Impl::check_memory(runtime::Program& program, const Bindings& bindings) const {
  if (memory_limit == 0) return;
  runtime::MemoryUse use = program.plan_memory(bindings, false);
  size_t total = use.arena + use.folded;
  std::vector<runtime::MemoryUse::Tensor> tensors;
  for (const Port& port : ports()) {
    if (port.role != PortRole::Output && port.role != PortRole::State) continue;
    const ResolvedDims dims = resolve(port, bindings);
    total += dims.bytes(port.dtype);
    tensors.push_back({fmt::format("{}{} {}", name(port.dtype), text_of(dims.sizes), port.name),
                       dims.bytes(port.dtype)});
  }
  if (total <= memory_limit) return;
  use = program.plan_memory(bindings, true);
  tensors.insert(tensors.end(), use.tensors.begin(), use.tensors.end());
  tensors.insert(tensors.end(), use.kept.begin(), use.kept.end());
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  std::string largest;
  for (size_t i = 0; i < std::min<size_t>(tensors.size(), 5); ++i) {
    largest +=
        fmt::format("{}{} ({} bytes)", i == 0 ? "" : ", ", tensors[i].name, tensors[i].bytes);
  }
  throw UserError(fmt::format(
      "a run would take {} bytes besides inputs and weights, but memory_limit (or the control "
      "group's limit) is {}; the largest tensors: {}; bind smaller sizes or raise the limit",
      total, memory_limit, largest));
}

void Executable::Impl::change_bindings(const Bindings& bindings) {
  bound.reset();
  check_bindings(bindings);
  view_checks->check(bindings);
  current = variants.pick(bindings);
  check_memory(*programs[current], bindings);
  std::vector<ResolvedDims> resolved;
  for (const Port& port : ports()) resolved.push_back(resolve(port, bindings));
  for (size_t port = 0; port < slots.size(); ++port) {
    Slot& slot = slots[port];
    if (slot.ready) slot.given = std::move(slot.now.sizes);
    slot.now = std::move(resolved[port]);
    slot.ready = false;
  }
  bound = bindings;
}

// Allocates nothing if the bindings are those of the last run, whatever was set since.
void Executable::Impl::run(const Bindings& bindings, const RunOptions& options) {
  if (!bound || bound->items() != bindings.items()) change_bindings(bindings);
  for (size_t port = 0; port < slots.size(); ++port) {
    if (!slots[port].ready) prepare_port(port);
  }
  check_caller_memory();
  copy_from_caller();
  std::ostream& out = options.out != nullptr ? *options.out : std::cout;
  struct Judge : runtime::IndexJudge {
    Judge(const Impl& of, const Bindings& at) : impl(of), sizes(at) {}
    void judge() override { impl.judge_rows(sizes); }
    const Impl& impl;
    const Bindings& sizes;
  } judge(*this, bindings);
  const runtime::StepOptions steps{.debug = options.debug ? &out : nullptr, .index_judge = &judge};
  if (options.trace != nullptr || options.check_kernels) {
    run_watched(bindings, options, steps);
  } else {
    programs[current]->run(bindings, buffers, steps);
  }
  copy_to_caller();
  for (const Probe& probe : graph->probes()) {
    show_probe(probe, graph->describe(probe.node), port_data(result_port.at(probe.node)), out);
  }
}

void Executable::run(const Bindings& bindings, const RunOptions& options) {
  impl().run(bindings, options);
}

void Executable::run(const RunOptions& options) { impl().run({}, options); }

interpret::LeafData Executable::Impl::leaf_data() const {
  return [this](NodeId id) { return port_data(leaf_port.at(id)); };
}

TensorData Executable::Impl::port_data(size_t port) const {
  const bool is_state = ports()[port].role == PortRole::State;
  const Buffer buffer = is_state ? state_value(port) : buffers[port];
  return TensorData{.dtype = ports()[port].dtype,
                    .dims = *dims_of(port),
                    .bytes = buffer.bytes(),
                    .owner = buffer.owner()};
}

TensorData Executable::view_data(const TensorRef& tensor) const {
  const size_t port = impl().value_of(tensor, "get");
  if (!impl().buffers[port].valid() || impl().dims_of(port) == nullptr) {
    throw UserError(
        fmt::format("get '{}': it has no value yet; call run() first", impl().ports()[port].name));
  }
  return impl().port_data(port);
}

TensorData Executable::get_data(const TensorRef& tensor) const {
  const TensorData data = view_data(tensor);
  return TensorData::copy_bytes(data.dtype, data.bytes, data.dims);
}

std::string Executable::print(const TensorRef& tensor) const {
  return luminal::print(view_data(tensor));
}

Executable Executable::clone() const {
  auto copy = std::make_unique<Impl>();
  copy->graph = impl().graph;
  copy->source = impl().source;
  for (const auto& program : impl().programs) {
    const runtime::Program* first = copy->programs.empty() ? nullptr : copy->programs[0].get();
    copy->programs.push_back(program->clone(first));
  }
  copy->port_list = impl().port_list;
  copy->variants = impl().variants;
  copy->memory_limit = impl().memory_limit;
  copy->leaf_port = impl().leaf_port;
  copy->result_port = impl().result_port;
  copy->variables = impl().variables;
  copy->view_checks = impl().view_checks;
  copy->notes = impl().notes;
  copy->slots.resize(impl().slots.size());
  copy->buffers.resize(impl().buffers.size());
  for (size_t port = 0; port < impl().slots.size(); ++port) {
    switch (copy->ports()[port].role) {
      case PortRole::Weight:
        copy->buffers[port] = impl().buffers[port];
        if (const auto* dims = impl().dims_of(port)) copy->slots[port].given = *dims;
        copy->slots[port].released = impl().slots[port].released;
        break;
      case PortRole::State:
        copy->buffers[port] = impl().state_value(port).copy();
        if (const auto* dims = impl().dims_of(port)) copy->slots[port].given = *dims;
        break;
      case PortRole::Input:
      case PortRole::Output:
        break;
    }
  }
  return Executable(std::move(copy));
}

}  // namespace luminal

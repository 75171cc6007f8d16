// Access to outputs in place: views of them, and caller memory that runs write them and states to.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "luminal/base/errors.h"
#include "luminal/driver/execute/executable_impl.h"

namespace luminal {
namespace {

using runtime::Buffer;
using runtime::Port;
using runtime::PortRole;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

// The number of elements if it is the same in every run. Makes no expression, so allocates nothing.
std::optional<int64_t> known_count(const Dims& dims) {
  int64_t count = 1;
  for (Expr dim : dims) {
    const std::optional<int64_t> size = dim.to_int();
    if (!size) return std::nullopt;
    count *= *size;
  }
  return count;
}

int64_t element_count(DType dtype, std::span<const std::byte> memory) {
  return static_cast<int64_t>(memory.size()) * 8 / bits(dtype);
}

// Kernels use aligned non-temporal stores, and custom kernels are promised this alignment.
bool kernels_can_write(std::span<const std::byte> memory) {
  return reinterpret_cast<uintptr_t>(memory.data()) % Buffer::kAlignment == 0;
}

}  // namespace

void Executable::check_view(const TensorRef& tensor, DType dtype) const {
  const Port& port = impl().ports()[impl().value_of(tensor, "view")];
  if (port.dtype == dtype) return;
  throw UserError(
      fmt::format("view '{}': it is {}, which can't be viewed as {}; get<T>() converts, "
                  "view_data() shows its bytes",
                  port.name, name(port.dtype), name(dtype)));
}

void Executable::bind_output(const TensorRef& tensor, DType dtype, std::span<std::byte> memory) {
  const size_t at = impl().result_of(tensor, "bind_output");
  const Port& port = impl().ports()[at];
  if (port.dtype != dtype) {
    throw UserError(
        fmt::format("bind_output '{}': it is {}, the memory is for {}; cast() it in "
                    "the graph, or bind memory of its type",
                    port.name, name(port.dtype), name(dtype)));
  }
  const std::optional<int64_t> wanted = known_count(port.dims);
  const int64_t found = element_count(dtype, memory);
  if (wanted && *wanted > found) {
    throw UserError(fmt::format("bind_output '{}': {} has {} elements, the memory has room for {}",
                                port.name, text(port.dims), *wanted, found));
  }
  impl().unbind(at);
  impl().slots[at].caller = memory;
}

void Executable::unbind_output(const TensorRef& tensor) {
  impl().unbind(impl().result_of(tensor, "unbind_output"));
}

void Executable::Impl::unbind(size_t at) {
  buffers[at] = {};
  slots[at].caller.reset();
  slots[at].ready = false;
  slots[at].given.reset();
}

size_t Executable::Impl::state_of(const TensorRef& tensor, const char* asked) const {
  const size_t at = leaf_of(tensor, asked);
  if (ports()[at].role == PortRole::State) return at;
  throw UserError(fmt::format(
      "{} '{}': only states can be bound; set() shares the elements of inputs and weights", asked,
      ports()[at].name));
}

void Executable::bind_state(const TensorRef& state, DType dtype, std::span<std::byte> memory) {
  const size_t at = impl().state_of(state, "bind_state");
  const Port& port = impl().ports()[at];
  if (port.dtype != dtype) {
    throw UserError(
        fmt::format("bind_state '{}': it is {}, the memory is {}; bind memory of its type",
                    port.name, name(port.dtype), name(dtype)));
  }
  const std::optional<int64_t> wanted = known_count(port.dims);
  const int64_t found = element_count(dtype, memory);
  if (wanted && *wanted != found) {
    throw UserError(fmt::format("bind_state '{}': {} has {} elements, the memory has {}", port.name,
                                text(port.dims), *wanted, found));
  }
  impl().unbind(at);
  impl().slots[at].caller = memory;
  impl().buffers[at] = Buffer::lend(memory);
}

void Executable::unbind_state(const TensorRef& state) {
  const size_t at = impl().state_of(state, "unbind_state");
  if (impl().slots[at].caller) impl().unbind(at);
}

bool Executable::is_copied(const TensorRef& tensor) const {
  const auto& caller = impl().slots[impl().value_of(tensor, "is_copied")].caller;
  return caller && !kernels_can_write(*caller);
}

Buffer Executable::Impl::own_memory(size_t at, size_t size) {
  Slot& slot = slots[at];
  if (!slot.storage.valid() || slot.storage.size() < size) {
    buffers[at] = {};  // old and new are never held together
    slot.storage = {};
    slot.storage = Buffer::allocate(size);
  }
  return slot.storage.first(size);
}

Buffer Executable::Impl::state_value(size_t at) const {
  return slots[at].caller ? Buffer::lend(*slots[at].caller) : buffers[at];
}

void Executable::Impl::prepare_bound_state(size_t at) {
  const Port& port = ports()[at];
  Slot& slot = slots[at];
  const size_t size = slot.now.bytes(port.dtype);
  if (slot.caller->size() != size) {
    throw UserError(
        fmt::format("run: state '{}' {} takes {} bytes in this run, the memory bound to it has {}; "
                    "bind as many",
                    port.name, text(port.dims), size, slot.caller->size()));
  }
  buffers[at] = kernels_can_write(*slot.caller) ? Buffer::lend(*slot.caller) : own_memory(at, size);
  slot.ready = true;
}

void Executable::Impl::prepare_output(size_t at) {
  const Port& port = ports()[at];
  Slot& slot = slots[at];
  const size_t size = slot.now.bytes(port.dtype);
  if (slot.caller && slot.caller->size() < size) {
    throw UserError(fmt::format(
        "run: output '{}' {} takes {} bytes in this run, the memory bound to it has {}; bind more, "
        "or run smaller sizes",
        port.name, text(port.dims), size, slot.caller->size()));
  }
  if (slot.caller && kernels_can_write(*slot.caller)) {
    buffers[at] = Buffer::lend(slot.caller->first(size));
    slot.ready = true;
    return;
  }
  buffers[at] = own_memory(at, size);
  slot.ready = true;
}

void Executable::Impl::check_caller_memory() {
  caller_ranges.clear();
  for (size_t at = 0; at < slots.size(); ++at) {
    if (!slots[at].caller) continue;
    const auto memory = slots[at].caller->first(slots[at].now.bytes(ports()[at].dtype));
    if (!memory.empty()) caller_ranges.push_back({memory, at});
  }
  if (caller_ranges.empty()) return;
  const auto start = [](const CallerRange& range) { return range.bytes.data(); };
  std::ranges::sort(caller_ranges, {}, start);
  const auto fail = [&](size_t written, size_t other) {
    throw UserError(fmt::format(
        "run: the memory bound to {} '{}' overlaps that of '{}'; bind memory of its own",
        ports()[written].role == PortRole::State ? "state" : "output", ports()[written].name,
        ports()[other].name));
  };
  for (size_t i = 1; i < caller_ranges.size(); ++i) {
    const CallerRange &before = caller_ranges[i - 1], &after = caller_ranges[i];
    if (overlap(before.bytes, after.bytes)) {
      fail(std::min(before.port, after.port), std::max(before.port, after.port));
    }
  }
  // They lie apart, so of those that begin before the end of some bytes the last one ends last.
  for (size_t other = 0; other < slots.size(); ++other) {
    const std::span<const std::byte> used = buffers[other].bytes();
    if (slots[other].caller || used.empty()) continue;
    const auto past =
        std::ranges::lower_bound(caller_ranges, used.data() + used.size(), std::less<>(), start);
    if (past == caller_ranges.begin()) continue;
    if (overlap((past - 1)->bytes, used)) fail((past - 1)->port, other);
  }
}

void Executable::Impl::copy_from_caller() const {
  for (size_t at = 0; at < slots.size(); ++at) {
    if (!slots[at].caller || ports()[at].role != PortRole::State) continue;
    const size_t size = buffers[at].size();
    if (size == 0 || buffers[at].bytes().data() == slots[at].caller->data()) continue;
    std::memcpy(buffers[at].writable().data(), slots[at].caller->data(), size);
  }
}

void Executable::Impl::copy_to_caller() const {
  for (size_t at = 0; at < slots.size(); ++at) {
    if (!slots[at].caller || buffers[at].size() == 0) continue;
    if (slots[at].caller->data() == buffers[at].bytes().data()) continue;
    std::memcpy(slots[at].caller->data(), buffers[at].bytes().data(), buffers[at].size());
  }
}

}  // namespace luminal

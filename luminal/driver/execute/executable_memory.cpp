// Access to outputs in place: views of them, and caller memory that runs write them to.
#include <fmt/format.h>

#include <cstring>

#include "luminal/base/errors.h"
#include "luminal/driver/execute/executable_impl.h"

namespace luminal {
namespace {

using runtime::Buffer;
using runtime::Port;

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
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
  const std::optional<int64_t> wanted = n_elements(port.dims).to_int();
  const int64_t found = static_cast<int64_t>(memory.size()) / byte_size(dtype, 1);
  if (wanted && *wanted > found) {
    throw UserError(fmt::format("bind_output '{}': {} has {} elements, the memory has room for {}",
                                port.name, text(port.dims), *wanted, found));
  }
  unbind_output(tensor);
  impl().slots[at].caller = memory;
}

void Executable::unbind_output(const TensorRef& tensor) {
  const size_t at = impl().result_of(tensor, "unbind_output");
  Impl::Slot& slot = impl().slots[at];
  impl().buffers[at] = {};
  slot.caller.reset();
  slot.ready = false;
  slot.given.reset();
}

void Executable::Impl::prepare_output(size_t at) {
  const Port& port = ports()[at];
  Slot& slot = slots[at];
  Buffer& buffer = buffers[at];
  const size_t size = slot.now.bytes(port.dtype);
  if (slot.caller && slot.caller->size() < size) {
    throw UserError(fmt::format(
        "run: output '{}' {} takes {} bytes in this run, the memory bound to it has {}; bind more, "
        "or run smaller sizes",
        port.name, text(port.dims), size, slot.caller->size()));
  }
  if (slot.caller && kernels_can_write(*slot.caller)) {
    buffer = Buffer::lend(slot.caller->first(size));
    slot.ready = true;
    return;
  }
  if (!slot.storage.valid() || slot.storage.size() < size) {
    buffer = {};  // old and new are never held together
    slot.storage = {};
    slot.storage = Buffer::allocate(size);
  }
  buffer = slot.storage.first(size);
  slot.ready = true;
}

void Executable::Impl::check_caller_memory() const {
  for (size_t at = 0; at < slots.size(); ++at) {
    if (!slots[at].caller) continue;
    const auto memory = slots[at].caller->first(slots[at].now.bytes(ports()[at].dtype));
    for (size_t other = 0; other < slots.size(); ++other) {
      const auto& caller = slots[other].caller;
      const std::span<const std::byte> used =
          caller ? *caller : std::span<const std::byte>(buffers[other].bytes());
      if (other == at || !overlap(memory, used)) continue;
      throw UserError(fmt::format(
          "run: the memory bound to output '{}' overlaps that of '{}'; bind memory of its own",
          ports()[at].name, ports()[other].name));
    }
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

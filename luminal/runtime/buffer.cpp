#include "luminal/runtime/buffer.h"

#include <cstring>
#include <string>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"

namespace luminal::runtime {

Buffer Buffer::allocate(size_t size) {
  std::shared_ptr<std::byte> memory = base::zeroed_memory(size);
  if (memory == nullptr) {
    throw DeviceError("out of memory: a buffer of " + std::to_string(size) + " bytes");
  }
  Buffer buffer;
  buffer.write_ = memory.get();
  buffer.owner_ = std::move(memory);
  buffer.bytes_ = {buffer.write_, size};
  buffer.valid_ = true;
  return buffer;
}

Buffer Buffer::borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Buffer buffer;
  buffer.bytes_ = bytes;
  buffer.owner_ = std::move(owner);
  buffer.valid_ = true;
  return buffer;
}

Buffer Buffer::lend(std::span<std::byte> memory) {
  Buffer buffer = borrow(memory, nullptr);
  buffer.write_ = memory.data();
  return buffer;
}

std::span<std::byte> Buffer::writable() const {
  LUMINAL_CHECK(write_ != nullptr, "a borrowed buffer was asked for write access");
  return {write_, bytes_.size()};
}

Buffer Buffer::part(size_t start, size_t size) const {
  LUMINAL_CHECK(start <= bytes_.size() && size <= bytes_.size() - start,
                "more bytes were asked for than the buffer has");
  Buffer result = *this;
  result.bytes_ = bytes_.subspan(start, size);
  if (write_ != nullptr) result.write_ = write_ + start;
  return result;
}

Buffer Buffer::copy() const {
  if (!valid_) return {};
  Buffer result = allocate(bytes_.size());
  if (!bytes_.empty()) std::memcpy(result.write_, bytes_.data(), bytes_.size());
  return result;
}

}  // namespace luminal::runtime

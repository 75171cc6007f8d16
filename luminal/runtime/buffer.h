// Buffer: bytes on the host, owned or borrowed, shared by whoever holds a copy of the handle.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace luminal::runtime {

class Buffer {
 public:
  // Owned buffers start at a multiple of this: a cache line, and the widest vector.
  static constexpr size_t kAlignment = 64;

  Buffer() = default;                   // holds nothing
  static Buffer allocate(size_t size);  // zeroed; DeviceError when there is no memory
  // Read-only bytes of someone else, kept alive by `owner`.
  static Buffer borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  // Writable memory of someone else, which must outlive the buffer.
  static Buffer lend(std::span<std::byte> memory);

  bool valid() const { return valid_; }
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  // Write access; an internal error on a borrowed buffer.
  std::span<std::byte> writable() const;
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // The first `size` bytes of the same memory, with the same access.
  Buffer first(size_t size) const { return part(0, size); }
  // `size` bytes from `start` on, likewise. The memory lives as long as any part of it.
  Buffer part(size_t start, size_t size) const;
  // A copy of the bytes in a buffer of its own.
  Buffer copy() const;

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::byte* write_ = nullptr;  // null when it is read only
  bool valid_ = false;
};

}  // namespace luminal::runtime

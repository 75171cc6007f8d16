// Memory as the operating system gives it: mapped files, large buffers, and how much there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace luminal::base {

// A file mapped read-only. Pages arrive as they are read, so opening a large file costs nothing.
// Another process that shortens the file while it is mapped makes reads past its new end fault, as
// with every mapping: replace files by renaming, don't truncate them.
class MappedFile {
 public:
  // An empty mapping, as after a move.
  MappedFile() = default;
  // UserError when the path can't be opened or isn't a regular file; DeviceError when mapping
  // fails.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

// Drops the resident pages that lie entirely in `bytes`, if `bytes` are part of a mapped file:
// the next access reads them from the file again. Other memory is left alone.
void drop_mapped_pages(std::span<const std::byte> bytes);

// Zeroed memory from mmap, aligned to a huge page, with transparent huge pages requested.
class LargeBuffer {
 public:
  // DeviceError if the allocation fails. A size of 0 is fine.
  explicit LargeBuffer(size_t size);
  ~LargeBuffer();
  LargeBuffer(LargeBuffer&& other) noexcept;
  LargeBuffer& operator=(LargeBuffer&& other) noexcept;

  std::span<std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  std::span<std::byte> bytes_;
};

// Zeroed memory aligned to 64 bytes, the size of a cache line and of the widest vector; from a few
// megabytes on, in huge pages. Null if the allocation fails.
std::shared_ptr<std::byte> zeroed_memory(size_t size);

// Returns freed memory that the allocator holds back to the system (malloc_trim). Takes
// milliseconds: worth it after a large amount was freed for good.
void return_freed_memory();

struct MemoryInfo {
  uint64_t total = 0;      // bytes of the machine
  uint64_t available = 0;  // bytes that can be had without swapping
};

MemoryInfo memory_info();

struct HugePages {
  std::string transparent;  // "always", "madvise", "never", or "" where the system doesn't say
  uint64_t page_bytes = 0;  // size of an explicit huge page
  uint64_t reserved = 0;    // explicit huge pages set aside
  uint64_t free = 0;        // those of them not in use
};

HugePages huge_pages();

// Bytes of this process that are in memory now.
uint64_t resident_bytes();

}  // namespace luminal::base

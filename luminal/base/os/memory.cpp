#include "luminal/base/os/memory.h"

#include "luminal/base/errors.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

namespace luminal::base {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Below this, rounding up to whole huge pages would waste too much.
constexpr size_t kWorthHugePages = 2 * kHugePage;

std::string reason(int error) { return std::generic_category().message(error); }

// Closes on every way out of a scope.
struct FileDescriptor {
  int value = -1;
  ~FileDescriptor() {
    if (value >= 0) ::close(value);
  }
};

// The ranges of mapped files: an address alone doesn't tell whether a file is mapped there.
struct MappedRanges {
  std::mutex mutex;
  std::map<const std::byte*, size_t> sizes;  // by start
};

MappedRanges& mapped_ranges() {
  static MappedRanges ranges;
  return ranges;
}

void unmap(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  {
    const std::lock_guard lock(mapped_ranges().mutex);
    mapped_ranges().sizes.erase(bytes.data());
  }
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

// The value of "key:   123 kB" in a file of /proc, in units of the file; 0 when it isn't there.
uint64_t proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key + ":")) continue;
    std::istringstream rest(line.substr(key.size() + 1));
    uint64_t value = 0;
    rest >> value;
    return value;
  }
  return 0;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) {
    throw UserError("can't open '" + path + "': " + reason(errno) +
                    "; check the path and its permissions");
  }
  struct stat status = {};
  if (::fstat(file.value, &status) != 0) {
    throw DeviceError("can't read the size of '" + path + "': " + reason(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    throw UserError("'" + path + "' is a folder; name a file in it");
  }
  if (!S_ISREG(status.st_mode)) {
    throw UserError("'" + path + "' is not a regular file, so it can't be mapped; copy it to one");
  }
  const size_t size = static_cast<size_t>(status.st_size);
  if (size == 0) return;  // the system maps no empty range
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) {
    throw DeviceError("can't map '" + path + "' (" + std::to_string(size) +
                      " bytes): " + reason(errno));
  }
  bytes_ = {static_cast<const std::byte*>(start), size};
  const std::lock_guard lock(mapped_ranges().mutex);
  mapped_ranges().sizes[bytes_.data()] = size;
}

MappedFile::~MappedFile() { unmap(bytes_); }

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void drop_mapped_pages(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mapped_ranges().mutex);
  const auto& sizes = mapped_ranges().sizes;
  auto range = sizes.upper_bound(bytes.data());
  if (range == sizes.begin()) return;
  --range;
  if (bytes.data() + bytes.size() > range->first + range->second) return;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto start = static_cast<size_t>(bytes.data() - range->first);
  const size_t first = (start + page - 1) / page * page;
  const size_t last = (start + bytes.size()) / page * page;
  if (first >= last) return;
  // Only advice: if it is ignored, the pages stay.
  ::madvise(const_cast<std::byte*>(range->first) + first, last - first, MADV_DONTNEED);
}

LargeBuffer::LargeBuffer(size_t size) {
  if (size == 0) return;
  if (size > SIZE_MAX - 2 * kHugePage) {
    throw DeviceError("can't allocate " + std::to_string(size) + " bytes");
  }
  const size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
  const size_t reserved = rounded + kHugePage;
  void* start =
      ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    throw DeviceError("can't allocate " + std::to_string(size) + " bytes: " + reason(errno));
  }
  // Unmap what lies before and after the aligned range.
  std::byte* base = static_cast<std::byte*>(start);
  const size_t misaligned = reinterpret_cast<uintptr_t>(base) % kHugePage;
  const size_t before = misaligned == 0 ? 0 : kHugePage - misaligned;
  if (before > 0) ::munmap(base, before);
  if (reserved - before > rounded) ::munmap(base + before + rounded, reserved - before - rounded);
  ::madvise(base + before, rounded, MADV_HUGEPAGE);  // only advice: small pages work as well
  // The tail of the last huge page stays mapped; the destructor rounds up to unmap it too.
  bytes_ = {base + before, size};
}

LargeBuffer::~LargeBuffer() {
  if (!bytes_.empty()) {
    ::munmap(bytes_.data(), (bytes_.size() + kHugePage - 1) / kHugePage * kHugePage);
  }
}

LargeBuffer::LargeBuffer(LargeBuffer&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

LargeBuffer& LargeBuffer::operator=(LargeBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::shared_ptr<std::byte> zeroed_memory(size_t size) {
  constexpr size_t kLine = 64;
  if (size >= kWorthHugePages) {
    try {
      auto large = std::make_shared<LargeBuffer>(size);
      return {large, large->bytes().data()};
    } catch (const DeviceError&) {
      return nullptr;
    }
  }
  // calloc doesn't touch memory that is fresh from the system and so zero already: a mostly unused
  // KV cache then costs little.
  void* memory = std::calloc(size + kLine, 1);
  if (memory == nullptr) return nullptr;
  const size_t past = reinterpret_cast<uintptr_t>(memory) % kLine;
  return {static_cast<std::byte*>(memory) + (kLine - past),
          [memory](std::byte*) { std::free(memory); }};
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

MemoryInfo memory_info() {
  MemoryInfo info;
  info.total = proc_value("/proc/meminfo", "MemTotal") << 10;
  info.available = proc_value("/proc/meminfo", "MemAvailable") << 10;
  if (info.total == 0) {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long size = ::sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) {
      info.total = static_cast<uint64_t>(pages) * static_cast<uint64_t>(size);
    }
  }
  return info;
}

HugePages huge_pages() {
  HugePages pages;
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);  // "always [madvise] never": the brackets hold the choice
  const size_t open = line.find('[');
  const size_t close = line.find(']');
  if (open != std::string::npos && close != std::string::npos && close > open) {
    pages.transparent = line.substr(open + 1, close - open - 1);
  }
  pages.page_bytes = proc_value("/proc/meminfo", "Hugepagesize") << 10;
  pages.reserved = proc_value("/proc/meminfo", "HugePages_Total");
  pages.free = proc_value("/proc/meminfo", "HugePages_Free");
  return pages;
}

uint64_t resident_bytes() { return proc_value("/proc/self/status", "VmRSS") << 10; }

}  // namespace luminal::base

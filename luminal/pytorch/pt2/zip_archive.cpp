#include "luminal/pytorch/pt2/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"

namespace luminal::pytorch {
namespace {

constexpr uint64_t kEndRecord = 0x06054b50, kEndRecordSize = 22;
constexpr uint64_t kLargeEndLocator = 0x07064b50, kLargeEndLocatorSize = 20;
constexpr uint64_t kLargeEndRecord = 0x06064b50;
constexpr uint64_t kEntry = 0x02014b50, kEntrySize = 46;
constexpr uint64_t kLocalHeader = 0x04034b50, kLocalHeaderSize = 30;
constexpr uint64_t kMostComment = 0xffff;
constexpr uint64_t kInExtraField = 0xffffffff;
constexpr uint64_t kLargeSizes = 1;  // the extra field with 64-bit sizes
constexpr uint64_t kEncrypted = 1;
constexpr uint64_t kMostMembers = 1 << 20;

[[noreturn]] void damaged(const std::string& source, const std::string& what) {
  throw UserError(fmt::format("{}: {}; save it again with torch.export.save()", source, what));
}

struct Entry {
  std::string name;
  uint64_t flags = 0, method = 0, size = 0, packed = 0, header = 0;
  uint64_t end = 0;  // of the entry itself
};

struct Directory {
  uint64_t at = 0, count = 0;
};

struct Region {
  uint64_t begin = 0, end = 0;
};

// A name that leads out of the folder of whoever unpacks the archive.
bool leads_outside(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != name.npos || name.find('\0') != name.npos) {
    return true;
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  [[noreturn]] void fail(const std::string& what) const { damaged(source_, what); }

  Directory directory() const {
    const uint64_t size = bytes_.size();
    if (size < kEndRecordSize) fail("it is too short for a zip archive");
    uint64_t end = size - kEndRecordSize;
    const uint64_t first = end > kMostComment ? end - kMostComment : 0;
    while (number(end, 4) != kEndRecord) {
      if (end == first) fail("it is no zip archive: there is no end of its directory");
      --end;
    }
    Directory found{.at = number(end + 16, 4), .count = number(end + 10, 2)};
    if (end >= kLargeEndLocatorSize && number(end - kLargeEndLocatorSize, 4) == kLargeEndLocator) {
      const uint64_t record = number(end - kLargeEndLocatorSize + 8, 8);
      if (number(record, 4) != kLargeEndRecord) fail("its 64-bit directory isn't where it says");
      found = {.at = number(record + 48, 8), .count = number(record + 32, 8)};
    }
    if (found.count > kMostMembers) {
      fail(fmt::format("it has {} members, over the limit", found.count));
    }
    return found;
  }

  Entry entry(uint64_t at, uint64_t index) const {
    if (number(at, 4) != kEntry) fail(fmt::format("entry {} of its directory is damaged", index));
    Entry entry{.name = {},
                .flags = number(at + 8, 2),
                .method = number(at + 10, 2),
                .size = number(at + 24, 4),
                .packed = number(at + 20, 4),
                .header = number(at + 42, 4)};
    const uint64_t name_size = number(at + 28, 2), extra_size = number(at + 30, 2);
    const uint64_t extra = at + kEntrySize + name_size;
    entry.name = text(at + kEntrySize, name_size);
    if (!io::is_utf8(entry.name)) fail(fmt::format("the name of entry {} is no UTF-8", index));
    if (leads_outside(entry.name)) {
      fail(fmt::format("the name of member {} leads out of the archive", io::quote(entry.name)));
    }
    number(extra + extra_size, 0);
    read_large_sizes({extra, extra + extra_size}, entry);
    entry.end = extra + extra_size + number(at + 32, 2);
    return entry;
  }

  // Its header and its bytes, which end the region.
  Region member(const Entry& entry) const {
    const std::string quoted = io::quote(entry.name);
    if ((entry.flags & kEncrypted) != 0) fail(fmt::format("member {} is encrypted", quoted));
    if (entry.method != 0 || entry.packed != entry.size) {
      fail(fmt::format("member {} is compressed", quoted));
    }
    const uint64_t name_size = number(entry.header + 26, 2);
    if (number(entry.header, 4) != kLocalHeader ||
        text(entry.header + kLocalHeaderSize, name_size) != entry.name) {
      fail(fmt::format("member {} isn't where the directory says", quoted));
    }
    const uint64_t begin =
        entry.header + kLocalHeaderSize + name_size + number(entry.header + 28, 2);
    if (begin > bytes_.size() || entry.size > bytes_.size() - begin) {
      fail(fmt::format("member {} is cut short", quoted));
    }
    return {entry.header, begin + entry.size};
  }

 private:
  uint64_t number(uint64_t at, int count) const {
    check_inside(at, static_cast<uint64_t>(count));
    uint64_t value = 0;
    for (int i = count; i-- > 0;) {
      value = value << 8 | std::to_integer<uint64_t>(bytes_[at + static_cast<uint64_t>(i)]);
    }
    return value;
  }

  std::string_view text(uint64_t at, uint64_t size) const {
    check_inside(at, size);
    return {reinterpret_cast<const char*>(bytes_.data()) + at, size};
  }

  void check_inside(uint64_t at, uint64_t size) const {
    if (at <= bytes_.size() && size <= bytes_.size() - at) return;
    fail(fmt::format("it is cut short: byte {} isn't there", at));
  }

  void read_large_sizes(Region extra, Entry& entry) const {
    for (uint64_t field = extra.begin; field + 4 <= extra.end;) {
      const uint64_t end = field + 4 + number(field + 2, 2);
      if (number(field, 2) == kLargeSizes) {
        uint64_t value = field + 4;
        for (uint64_t* wide : {&entry.size, &entry.packed, &entry.header}) {
          if (*wide != kInExtraField || value + 8 > end) continue;
          *wide = number(value, 8);
          value += 8;
        }
      }
      field = end;
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
};

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string source)
    : source_(std::move(source)) {
  const ZipReader reader(bytes, source_);
  const Directory directory = reader.directory();
  std::vector<Region> taken;
  uint64_t at = directory.at;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const Entry entry = reader.entry(at, i);
    at = entry.end;
    taken.push_back(reader.member(entry));
    const auto content = bytes.subspan(taken.back().end - entry.size, entry.size);
    if (!members_.emplace(entry.name, content).second) {
      reader.fail(fmt::format("member {} is there twice", io::quote(entry.name)));
    }
  }
  taken.push_back({directory.at, at});
  std::ranges::sort(taken, {}, &Region::begin);
  for (size_t i = 1; i < taken.size(); ++i) {
    if (taken[i].begin < taken[i - 1].end) reader.fail("two members overlap");
  }
}

std::span<const std::byte> ZipArchive::member(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    damaged(source_, fmt::format("there is no member {}", io::quote(name)));
  }
  return found->second;
}

}  // namespace luminal::pytorch

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

struct Entry {
  std::string name;
  uint64_t flags = 0, method = 0, size = 0, packed = 0, header = 0;
};

}  // namespace

void ZipArchive::fail(const std::string& what) const {
  throw UserError(fmt::format("{}: {}; save it again with torch.export.save()", source_, what));
}

uint64_t ZipArchive::number(uint64_t at, int count) const {
  if (at > bytes_.size() || static_cast<uint64_t>(count) > bytes_.size() - at) {
    fail(fmt::format("it is cut short: byte {} isn't there", at));
  }
  uint64_t value = 0;
  for (int i = count; i-- > 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes_[at + static_cast<uint64_t>(i)]);
  }
  return value;
}

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string source)
    : bytes_(bytes), source_(std::move(source)) {
  const uint64_t size = bytes_.size();
  if (size < kEndRecordSize) fail("it is too short for a zip archive");
  uint64_t end = size - kEndRecordSize;
  const uint64_t first = end > kMostComment ? end - kMostComment : 0;
  while (number(end, 4) != kEndRecord) {
    if (end == first) fail("it is no zip archive: there is no end of its directory");
    --end;
  }
  uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
  if (end >= kLargeEndLocatorSize && number(end - kLargeEndLocatorSize, 4) == kLargeEndLocator) {
    const uint64_t record = number(end - kLargeEndLocatorSize + 8, 8);
    if (number(record, 4) != kLargeEndRecord) fail("its 64-bit directory isn't where it says");
    count = number(record + 32, 8);
    at = number(record + 48, 8);
  }
  if (count > kMostMembers) fail(fmt::format("it has {} members, over the limit", count));
  uint64_t last_end = 0;
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (uint64_t i = 0; i < count; ++i) {
    if (number(at, 4) != kEntry) fail(fmt::format("entry {} of its directory is damaged", i));
    Entry entry;
    entry.flags = number(at + 8, 2);
    entry.method = number(at + 10, 2);
    entry.packed = number(at + 20, 4);
    entry.size = number(at + 24, 4);
    entry.header = number(at + 42, 4);
    const uint64_t name_size = number(at + 28, 2), extra = number(at + 30, 2);
    const uint64_t comment = number(at + 32, 2), name_at = at + kEntrySize;
    number(name_at + name_size + extra, 0);
    entry.name.assign(reinterpret_cast<const char*>(bytes_.data() + name_at), name_size);
    if (!io::is_utf8(entry.name)) fail(fmt::format("the name of entry {} is no UTF-8", i));
    for (uint64_t field = name_at + name_size; field + 4 <= name_at + name_size + extra;) {
      const uint64_t kind = number(field, 2), length = number(field + 2, 2);
      uint64_t value = field + 4;
      if (kind == kLargeSizes) {
        for (uint64_t* wide : {&entry.size, &entry.packed, &entry.header}) {
          if (*wide != kInExtraField || value + 8 > field + 4 + length) continue;
          *wide = number(value, 8);
          value += 8;
        }
      }
      field += 4 + length;
    }
    at = name_at + name_size + extra + comment;
    const std::string quoted = io::quote(entry.name);
    if ((entry.flags & kEncrypted) != 0) fail(fmt::format("member {} is encrypted", quoted));
    if (entry.method != 0 || entry.packed != entry.size) {
      fail(fmt::format("member {} is compressed", quoted));
    }
    if (number(entry.header, 4) != kLocalHeader) {
      fail(fmt::format("member {} isn't where the directory says", quoted));
    }
    const uint64_t begin = entry.header + kLocalHeaderSize + number(entry.header + 26, 2) +
                           number(entry.header + 28, 2);
    if (begin > size || entry.size > size - begin) {
      fail(fmt::format("member {} is cut short", quoted));
    }
    taken.emplace_back(entry.header, begin + entry.size);
    if (!members_.emplace(entry.name, bytes_.subspan(begin, entry.size)).second) {
      fail(fmt::format("member {} is there twice", quoted));
    }
  }
  std::ranges::sort(taken);
  for (const auto& [begin, stop] : taken) {
    if (begin < last_end) fail("two members overlap");
    last_end = stop;
  }
}

std::span<const std::byte> ZipArchive::member(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) fail(fmt::format("there is no member {}", io::quote(name)));
  return found->second;
}

}  // namespace luminal::pytorch

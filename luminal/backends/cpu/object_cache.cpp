#include "luminal/backends/cpu/object_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>

#include "luminal/base/check.h"
#include "luminal/base/hash.h"
#include "luminal/base/os_paths.h"
#include "luminal/base/os_process.h"

namespace luminal::backends::cpu {
namespace {

// What stands before an object in its file.
struct Header {
  char magic[8] = {'l', 'u', 'm', 'o', 'b', 'j', '0', '1'};
  uint64_t size = 0;
  uint64_t checksum = 0;
  uint64_t key = 0;  // its hash: a file under another name is another kernel
};

Header header_of(const std::string& key, std::string_view object) {
  return {.size = object.size(), .checksum = base::hash(object), .key = base::hash(key)};
}

// Keys have one length, so that objects of others in the same folder are never taken for entries.
constexpr size_t kKeyLength = 64;

bool is_key(std::string_view text) {
  return text.size() == kKeyLength &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Unique among the processes and threads that may write the same entry.
std::string temporary_suffix() {
  static std::atomic<uint64_t> count = 0;
  return "." + std::to_string(base::process_id()) + "." + std::to_string(count++) + ".tmp";
}

// A process that was stopped while it wrote leaves such a file.
constexpr auto kOldTemporary = std::chrono::hours(1);

struct Entry {
  std::filesystem::file_time_type used;
  std::string name;
  uint64_t bytes;
};

// The entries of a folder, those used least recently first.
std::vector<Entry> entries_of(const std::filesystem::path& folder) {
  std::vector<Entry> entries;
  std::error_code ignored;  // other processes may remove files at the same time
  std::filesystem::directory_iterator file(folder, ignored);
  for (; file != std::filesystem::directory_iterator(); file.increment(ignored)) {
    const std::string name = file->path().filename().string();
    if (!is_key(std::string_view(name).substr(0, kKeyLength))) continue;
    const std::string_view ending = std::string_view(name).substr(kKeyLength);
    std::error_code gone;
    const auto used = file->last_write_time(gone);
    const uint64_t bytes = file->file_size(gone);
    if (gone) continue;
    const bool old_temporary = ending.starts_with(".o.") && ending.ends_with(".tmp") &&
                               std::filesystem::file_time_type::clock::now() - used > kOldTemporary;
    if (ending != ".o" && !old_temporary) continue;
    entries.push_back({used, name, bytes});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.name < b.name;
  });
  return entries;
}

}  // namespace

ObjectCache::ObjectCache(std::filesystem::path folder, uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
  if (folder_.empty()) return;
  std::error_code ignored;  // store() counts what can't be written
  std::filesystem::create_directories(folder_.parent_path(), ignored);
  if (std::filesystem::create_directory(folder_, ignored)) {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  }
  if (const std::string why = base::why_not_private(folder_); !why.empty()) {
    refused_ = fmt::format("compiled kernels are not kept in {}: {}; chmod 700 it, or name another",
                           folder_.string(), why);
    folder_.clear();
  }
}

ObjectCache::~ObjectCache() {
  if (stored_ > 0) trim_cache(folder_, most_bytes_);
}

std::filesystem::path ObjectCache::file_of(const std::string& key) const {
  LUMINAL_CHECK(is_key(key), "a cache key of another form: " + key);
  return folder_ / (key + ".o");
}

std::optional<std::string> ObjectCache::find(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(file_of(key), std::ios::binary);
  if (!file) {
    ++misses_;
    return std::nullopt;
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Header header;
  if (text.size() >= sizeof(Header)) {
    std::string object = text.substr(sizeof(Header));
    header = header_of(key, object);
    if (std::memcmp(text.data(), &header, sizeof(Header)) == 0) {
      ++hits_;
      std::error_code ignored;  // only its place in the order of use is lost
      std::filesystem::last_write_time(file_of(key), std::filesystem::file_time_type::clock::now(),
                                       ignored);
      return object;
    }
  }
  ++damaged_;
  return std::nullopt;
}

void ObjectCache::store(const std::string& key, std::string_view object) {
  if (folder_.empty()) return;
  const std::filesystem::path final_path = file_of(key);
  const std::filesystem::path temporary = final_path.string() + temporary_suffix();
  const Header header = header_of(key, object);
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file.write(object.data(), static_cast<std::streamsize>(object.size()));
    file.close();
    if (!file) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) std::filesystem::rename(temporary, final_path, error);
  if (!error) ++stored_;
  if (error) {
    ++not_written_;
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
  }
}

ObjectCache::Counters ObjectCache::counters() const {
  return {.hits = hits_, .misses = misses_, .damaged = damaged_, .not_written = not_written_};
}

std::vector<std::string> ObjectCache::notes() const {
  std::vector<std::string> notes;
  if (!refused_.empty()) notes.push_back(refused_);
  if (damaged_ > 0) {
    notes.push_back(fmt::format("{} compiled kernels in {} were damaged and made again",
                                damaged_.load(), folder_.string()));
  }
  if (not_written_ > 0) {
    notes.push_back(fmt::format("{} compiled kernels could not be kept in {}", not_written_.load(),
                                folder_.string()));
  }
  return notes;
}

CacheStats cache_stats(const std::filesystem::path& folder) {
  CacheStats stats;
  for (const Entry& entry : entries_of(folder)) {
    ++stats.entries;
    stats.bytes += entry.bytes;
  }
  return stats;
}

CacheStats trim_cache(const std::filesystem::path& folder, uint64_t most_bytes) {
  const std::vector<Entry> entries = entries_of(folder);
  uint64_t held = 0;
  for (const Entry& entry : entries) held += entry.bytes;
  CacheStats removed;
  for (const Entry& entry : entries) {
    if (held <= most_bytes) break;
    std::error_code error;
    if (!std::filesystem::remove(folder / entry.name, error)) continue;
    held -= entry.bytes;
    ++removed.entries;
    removed.bytes += entry.bytes;
  }
  return removed;
}

}  // namespace luminal::backends::cpu

#include "luminal/base/files/file_cache.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>

#include "luminal/base/check.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/files/seal.h"
#include "luminal/base/os/own_file.h"
#include "luminal/base/os/paths.h"

namespace luminal::base {
namespace {

// Precedes the content of a file.
struct Header {
  char magic[8] = {'l', 'u', 'm', 'o', 'b', 'j', '0', '2'};
  char seal[32] = {};  // over content and key, so a renamed file fails the check
};

Header header_of(const std::string& key, std::string_view content, const Secret& secret) {
  Header header;
  const std::string tag = seal(secret, seal(secret, content) + key);
  std::copy_n(tag.begin(), sizeof(header.seal), header.seal);
  return header;
}

// A fixed length, so that unrelated files in the same folder are never mistaken for entries.
constexpr size_t kKeyLength = 64;

// Older temporary files were left behind by a process that was killed while writing.
constexpr auto kOldTemporary = std::chrono::hours(1);

struct Entry {
  std::filesystem::file_time_type used;
  std::string name;
  uint64_t bytes;
  size_t kind;  // a position in kCacheKinds
};

// The kind of a file from what follows the key in its name: ".plan", or ".plan.1.2.tmp".
std::optional<size_t> kind_of(std::string_view ending) {
  for (size_t k = 0; k < std::size(kCacheKinds); ++k) {
    if (!ending.starts_with(kCacheKinds[k].ending)) continue;
    const std::string_view rest = ending.substr(kCacheKinds[k].ending.size());
    if (rest.empty() || (rest.starts_with(".") && rest.ends_with(".tmp"))) return k;
  }
  return std::nullopt;
}

// The entries of a folder, least recently used first.
std::vector<Entry> entries_of(const std::filesystem::path& folder) {
  std::vector<Entry> entries;
  std::error_code ignored;  // other processes may remove files at the same time
  std::filesystem::directory_iterator file(folder, ignored);
  for (; file != std::filesystem::directory_iterator(); file.increment(ignored)) {
    const std::string name = file->path().filename().string();
    if (!FileCache::is_key(std::string_view(name).substr(0, kKeyLength))) continue;
    const std::optional<size_t> kind = kind_of(std::string_view(name).substr(kKeyLength));
    if (!kind) continue;
    std::error_code gone;
    const auto used = file->last_write_time(gone);
    const uint64_t bytes = file->file_size(gone);
    if (gone) continue;
    const bool temporary = name.ends_with(".tmp");
    if (temporary && std::filesystem::file_time_type::clock::now() - used <= kOldTemporary) {
      continue;
    }
    entries.push_back({used, name, bytes, *kind});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.name < b.name;
  });
  return entries;
}

std::vector<CacheStats> no_stats() {
  std::vector<CacheStats> stats;
  for (const CacheKind& kind : kCacheKinds) stats.push_back({.kind = kind});
  return stats;
}

void count(const Entry& entry, std::vector<CacheStats>& stats) {
  ++stats[entry.kind].entries;
  stats[entry.kind].bytes += entry.bytes;
}

// Whether to trim a folder now: the first time that this process has stored something there, then
// whenever it has stored another sixteenth of the limit. Scanning the folder every time would take
// longer than compiling in a process that compiles a thousand graphs.
bool is_due(const std::filesystem::path& folder, uint64_t stored, uint64_t most_bytes) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, uint64_t> stored_since;
  const std::lock_guard lock(mutex);
  const auto [entry, is_first] = stored_since.try_emplace(folder, 0);
  entry->second += stored;
  if (!is_first && entry->second < most_bytes / 16) return false;
  entry->second = 0;
  return true;
}

// The content behind the header; none if the file is too short or its seal doesn't match.
std::optional<std::string> content_of(std::string bytes, const std::string& key,
                                      const Secret& secret) {
  if (bytes.size() < sizeof(Header)) return std::nullopt;
  const Header expected = header_of(key, std::string_view(bytes).substr(sizeof(Header)), secret);
  if (std::memcmp(bytes.data(), &expected, sizeof(Header)) != 0) return std::nullopt;
  bytes.erase(0, sizeof(Header));
  return bytes;
}

// Limit for one entry; entries of large graphs take a few megabytes.
constexpr uint64_t kMostEntryBytes = uint64_t{256} << 20;

}  // namespace

FileCache::FileCache(std::filesystem::path folder, CacheKind kind, uint64_t most_bytes)
    : folder_(std::move(folder)), kind_(kind), most_bytes_(most_bytes) {
  if (folder_.empty()) return;
  make_private_folder(folder_);  // store() counts what can't be written
  if (const std::string why = why_not_private(folder_); !why.empty()) {
    refused_ = std::string(kind_.what) + " are not kept in " + folder_.string() + ": " + why +
               "; empty it and chmod 700 it, or name another";
    folder_.clear();
    return;
  }
  if (const Result<Secret> secret = secret_of(folder_)) {
    secret_ = *secret;
  } else {
    no_secret_ = secret.why();
  }
}

bool FileCache::is_key(std::string_view text) {
  return text.size() == kKeyLength &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

FileCache::~FileCache() {
  if (stored_ > 0 && is_due(folder_, stored_bytes_, most_bytes_)) trim_cache(folder_, most_bytes_);
}

std::filesystem::path FileCache::file_of(const std::string& key) const {
  LUMINAL_CHECK(is_key(key), "malformed cache key: " + key);
  return folder_ / (key + std::string(kind_.ending));
}

std::optional<std::string> FileCache::find(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  if (!secret_) {
    ++misses_;
    return std::nullopt;
  }
  OwnFile file = read_own_file(file_of(key), kMostEntryBytes);
  if (file.state == OwnFile::State::Absent) {
    ++misses_;
    return std::nullopt;
  }
  if (file.state == OwnFile::State::NotOwn) {
    ++not_own_;
    return std::nullopt;
  }
  std::optional<std::string> content;
  if (file.state == OwnFile::State::Read)
    content = content_of(std::move(file.bytes), key, *secret_);
  if (!content) {
    ++damaged_;
    return std::nullopt;
  }
  ++hits_;
  std::error_code ignored;  // on failure only the LRU order suffers
  std::filesystem::last_write_time(file_of(key), std::filesystem::file_time_type::clock::now(),
                                   ignored);
  return content;
}

void FileCache::store(const std::string& key, std::string_view content) {
  if (folder_.empty()) return;
  if (!secret_) {
    ++not_written_;
    return;
  }
  const Header header = header_of(key, content, *secret_);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += content;
  // find() rejects entries that others may write to.
  if (!replace_file(file_of(key), bytes, FileReaders::Owner)) {
    ++not_written_;
    return;
  }
  ++stored_;
  stored_bytes_ += content.size();
}

FileCache::Counters FileCache::counters() const {
  return {.hits = hits_,
          .misses = misses_,
          .damaged = damaged_,
          .not_own = not_own_,
          .not_written = not_written_};
}

std::vector<std::string> FileCache::notes() const {
  std::vector<std::string> notes;
  if (!refused_.empty()) notes.push_back(refused_);
  auto note = [&](int64_t entries, const char* what) {
    if (entries == 0) return;
    notes.push_back(std::to_string(entries) + " " + std::string(kind_.what) + what);
  };
  note(damaged_, (" in " + folder_.string() + " were damaged and made again").c_str());
  note(not_own_, (" in " + folder_.string() +
                  " are not used: they are another user's, others may write to them, or they "
                  "aren't regular files; empty the folder ('luminal cache clear'), or name another")
                     .c_str());
  const std::string why = no_secret_.empty() ? "" : ": " + no_secret_;
  note(not_written_, (" could not be kept in " + folder_.string() + why).c_str());
  return notes;
}

std::vector<CacheStats> cache_stats(const std::filesystem::path& folder) {
  std::vector<CacheStats> stats = no_stats();
  for (const Entry& entry : entries_of(folder)) count(entry, stats);
  return stats;
}

std::vector<CacheStats> trim_cache(const std::filesystem::path& folder, uint64_t most_bytes) {
  const std::vector<Entry> entries = entries_of(folder);
  uint64_t held = 0;
  for (const Entry& entry : entries) held += entry.bytes;
  std::vector<CacheStats> removed = no_stats();
  for (const Entry& entry : entries) {
    if (held <= most_bytes) break;
    std::error_code error;
    if (!std::filesystem::remove(folder / entry.name, error)) continue;
    held -= entry.bytes;
    count(entry, removed);
  }
  return removed;
}

}  // namespace luminal::base

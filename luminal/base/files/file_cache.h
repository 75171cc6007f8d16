// FileCache: a content-addressed cache on disk. The key is a hash of everything that the entry was
// made from.
//
// Entries are checked when read (a damaged one counts as absent) and written atomically, so
// processes may share a folder. Compiled code is executed as found, so a folder that others can
// write to is not used, nor an entry that another user owns. Nothing here fails a compilation;
// counters and notes tell what happened.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/os/secret.h"

namespace luminal::base {

// A folder holds entries of every kind, each in a file of its own.
struct CacheKind {
  std::string_view ending;  // of its files' names
  std::string_view what;    // how notes name the entries
};
inline constexpr CacheKind kCachedKernels{".o", "compiled kernels"};
inline constexpr CacheKind kCachedNames{".name", "names of kernels"};  // with their keys
inline constexpr CacheKind kCachedPlans{".plan", "plans"};
inline constexpr CacheKind kCacheKinds[] = {kCachedKernels, kCachedNames, kCachedPlans};

class FileCache {
 public:
  static constexpr uint64_t kDefaultBytes = 1 << 30;

  // With an empty path nothing is found and nothing is stored. The destructor evicts the least
  // recently used entries of the folder until the rest fits in `most_bytes`. It does so the first
  // time that this process stored something there, then after every `most_bytes` / 16 stored.
  FileCache(std::filesystem::path folder, CacheKind kind, uint64_t most_bytes = kDefaultBytes);
  ~FileCache();

  static bool is_key(std::string_view text);  // 64 hex digits
  // The file of an entry is named by its key and the kind's ending.
  std::optional<std::string> find(const std::string& key);
  void store(const std::string& key, std::string_view content);

  struct Counters {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t damaged = 0;      // found, but the seal doesn't match the content
    int64_t not_own = 0;      // owned or writable by others, or not a regular file: not used
    int64_t not_written = 0;  // the folder can't be written to
  };
  Counters counters() const;
  // What went wrong, in words for the report.
  std::vector<std::string> notes() const;
  // Empty if nothing is cached.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  CacheKind kind_;
  uint64_t most_bytes_;
  std::string refused_;  // a note that says why the folder isn't used
  // Key of the seals, stored in the folder: entries that others wrote or changed count as damaged.
  // Without one, nothing is found or stored.
  std::optional<Secret> secret_;
  std::string no_secret_;  // why there is none
  std::atomic<int64_t> hits_ = 0, misses_ = 0, damaged_ = 0, not_own_ = 0, not_written_ = 0,
                       stored_ = 0;
  std::atomic<uint64_t> stored_bytes_ = 0;
};

// The entries of one kind in a cache's folder.
struct CacheStats {
  CacheKind kind;
  int64_t entries = 0;
  uint64_t bytes = 0;
};
// One per kind, in the order of kCacheKinds.
std::vector<CacheStats> cache_stats(const std::filesystem::path& folder);
// Removes entries, least recently used first, until the rest fits in `most_bytes`; 0 removes all.
// Files that no cache wrote stay. Returns what was removed, by kind.
std::vector<CacheStats> trim_cache(const std::filesystem::path& folder, uint64_t most_bytes);

}  // namespace luminal::base

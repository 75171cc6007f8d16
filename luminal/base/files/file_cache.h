// FileCache: what took long to make, on disk, found by a key that names all that went into it.
//
// Entries are checked when read (a damaged one counts as absent) and appear whole or not at all:
// processes may share a folder. Compiled code is run as it is found, so a folder that others can
// write to is not used, nor an entry that is another user's. Nothing here fails a compilation;
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

  // An empty path: nothing is found, nothing is kept. At the end of its life, if it stored
  // something, it removes the entries of the folder that were used least recently until
  // `most_bytes` hold the rest: the first time in this process, and then after every sixteenth of
  // that.
  FileCache(std::filesystem::path folder, CacheKind kind, uint64_t most_bytes = kDefaultBytes);
  ~FileCache();

  static bool is_key(std::string_view text);  // 64 hex digits
  // With the kind's ending a key is the file's name.
  std::optional<std::string> find(const std::string& key);
  void store(const std::string& key, std::string_view content);

  struct Counters {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t damaged = 0;      // found, but not as it was written
    int64_t not_own = 0;      // another user's, or no plain file: not used
    int64_t not_written = 0;  // the folder can't be written to
  };
  Counters counters() const;
  // What kept it from doing its work, in words.
  std::vector<std::string> notes() const;
  // Empty where nothing is kept.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  CacheKind kind_;
  uint64_t most_bytes_;
  std::string refused_;  // a note: the folder isn't used
  // Lies in the folder and seals entries: what others wrote, or changed, counts as damaged. None
  // where it can't be made: then nothing is found or kept.
  std::optional<Secret> secret_;
  std::string no_secret_;  // why there is none
  std::atomic<int64_t> hits_ = 0, misses_ = 0, damaged_ = 0, not_own_ = 0, not_written_ = 0,
                       stored_ = 0;
  std::atomic<uint64_t> stored_bytes_ = 0;
};

// What a cache's folder holds of one kind.
struct CacheStats {
  CacheKind kind;
  int64_t entries = 0;
  uint64_t bytes = 0;
};
// One per kind, in their order.
std::vector<CacheStats> cache_stats(const std::filesystem::path& folder);
// Removes entries, those used least recently first, until `most_bytes` hold the rest; all for 0.
// Files that no cache wrote stay. Returns what was removed, by kind.
std::vector<CacheStats> trim_cache(const std::filesystem::path& folder, uint64_t most_bytes);

}  // namespace luminal::base

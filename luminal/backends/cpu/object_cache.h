// ObjectCache: compiled kernels on disk, found by a key that names all that went into them.
//
// Entries are checked when read (a damaged one counts as absent) and appear whole or not at all:
// processes may share a folder. Nothing here fails a compilation; the counters tell what happened.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace luminal::backends::cpu {

class ObjectCache {
 public:
  // An empty path: nothing is found, nothing is kept.
  explicit ObjectCache(std::filesystem::path folder);

  // `key` is made of letters and digits: it is the file's name.
  std::optional<std::string> find(const std::string& key);
  void store(const std::string& key, std::string_view object);

  struct Counters {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t damaged = 0;      // found, but not as it was written
    int64_t not_written = 0;  // the folder can't be written to
  };
  Counters counters() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::atomic<int64_t> hits_ = 0, misses_ = 0, damaged_ = 0, not_written_ = 0;
};

}  // namespace luminal::backends::cpu

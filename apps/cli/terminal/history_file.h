// HistoryFile: typed messages across sessions, in a file that only this user can access.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace luminal::cli {

// One message per line, as a JSON string. Concurrent chats append to the same file.
class HistoryFile {
 public:
  // Creates the folder. A file that other users could have written is neither read nor written.
  // Without a path nothing is kept.
  explicit HistoryFile(std::filesystem::path path);

  // The newest last, at most kMostMessages. Rewrites a file that has grown far beyond that.
  std::vector<std::string> read() const;
  void add(const std::string& message) const;

  static constexpr size_t kMostMessages = 1000;

 private:
  void write_anew(const std::vector<std::string>& messages) const;

  std::filesystem::path path_;
};

}  // namespace luminal::cli

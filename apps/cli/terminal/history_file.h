// HistoryFile: the messages that were typed, across sessions, in a file for this user alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace luminal::cli {

// A line per message, as a string of JSON. Chats that run at the same time add to the same file.
class HistoryFile {
 public:
  // Makes its folder. A file that other users could have written is neither read nor written.
  // Without a path nothing is kept.
  explicit HistoryFile(std::filesystem::path path);

  // The newest last, at most kMostMessages. A file that has grown far beyond that is written anew.
  std::vector<std::string> read() const;
  void add(const std::string& message) const;

  static constexpr size_t kMostMessages = 1000;

 private:
  void write_anew(const std::vector<std::string>& messages) const;

  std::filesystem::path path_;
};

}  // namespace luminal::cli

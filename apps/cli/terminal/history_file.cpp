#include "apps/cli/terminal/history_file.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "luminal/base/os/own_file.h"
#include "luminal/base/text/json_text.h"

namespace luminal::cli {
namespace {

constexpr uint64_t kMostBytes = 64 << 20;

void make_private(const std::filesystem::path& file) {
  std::error_code ignored;
  using std::filesystem::perms;
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write, ignored);
}

}  // namespace

HistoryFile::HistoryFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (!base::make_private_folder(path_.parent_path()) || !base::why_not_own(path_).empty()) {
    path_.clear();
  }
}

std::vector<std::string> HistoryFile::read() const {
  std::vector<std::string> messages;
  if (path_.empty()) return messages;
  std::istringstream lines(base::read_own_file(path_, kMostBytes).bytes);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('"')) continue;  // only strings, so nothing can be nested
    const auto message = nlohmann::json::parse(line, nullptr, false);
    if (message.is_string()) messages.push_back(message);
  }
  const size_t count = messages.size();
  if (count > kMostMessages) messages.erase(messages.begin(), messages.end() - kMostMessages);
  if (count > 2 * kMostMessages) write_anew(messages);
  return messages;
}

void HistoryFile::add(const std::string& message) const {
  if (path_.empty()) return;
  std::ofstream(path_, std::ios::app) << base::json_quoted(message) << "\n";
  make_private(path_);
}

void HistoryFile::write_anew(const std::vector<std::string>& messages) const {
  std::filesystem::path beside = path_;
  beside += ".new";
  std::ofstream out(beside);
  make_private(beside);
  for (const std::string& message : messages) out << base::json_quoted(message) << "\n";
  out.close();
  std::error_code ignored;
  if (out) std::filesystem::rename(beside, path_, ignored);
}

}  // namespace luminal::cli

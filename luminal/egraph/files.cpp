#include "luminal/egraph/files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace luminal::egraph {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // Copying an empty file sets failbit, although reading it didn't fail.
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(text << file.rdbuf()))) {
    return std::nullopt;
  }
  return text.str();
}

bool append_to_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace

Files files_of_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto include = [folder](const std::string& path) -> std::optional<std::string> {
    std::error_code error;
    const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
    const fs::path file = error ? fs::path() : fs::canonical(path, error);  // symlinks resolved
    if (error) return std::nullopt;
    const fs::path inside = file.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..") return std::nullopt;
    return read_file(path);
  };
  return {.read = {}, .append = {}, .include = include};
}

Files system_files() { return {.read = read_file, .append = append_to_file}; }

}  // namespace luminal::egraph

#include "apps/bench/harness/files.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "luminal/base/errors.h"

namespace luminal::bench {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) throw UserError(fmt::format("can't read {}", path.string()));
  return content.str();
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path beside = path;
  beside += ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(beside, path, error);
  if (!file || error) {
    throw UserError(
        fmt::format("can't write {}{}", path.string(), error ? ": " + error.message() : ""));
  }
}

}  // namespace luminal::bench

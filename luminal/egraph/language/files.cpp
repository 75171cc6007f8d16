#include "luminal/egraph/language/files.h"

#include <fstream>
#include <sstream>

namespace luminal::egraph {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // An empty file has nothing to copy, which isn't a failure to read it.
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

Files system_files() { return {.read = read_file, .append = append_to_file}; }

}  // namespace luminal::egraph

#include "tests/text_forms/golden_case.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace luminal::golden {
namespace {

constexpr std::string_view kArrow = "=>\n";

Case read(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file).rdbuf();
  std::string text = bytes.str();
  Case made;
  made.file = file;
  while (text.starts_with('#') || text.starts_with('!')) {
    const size_t end = text.find('\n') + 1;
    const std::string line = text.substr(0, end);
    if (line.starts_with("! ")) {
      const size_t space = line.find(' ', 2);
      made.options[line.substr(2, space - 2)] = line.substr(space + 1, end - space - 2);
    }
    made.head += line;
    text.erase(0, end);
  }
  const size_t arrow = text.find("\n" + std::string(kArrow));
  if (arrow == std::string::npos) {
    throw std::runtime_error(file.string() + ": there is no line '=>' after the input");
  }
  made.input = text.substr(0, arrow + 1);
  made.expected = text.substr(arrow + 1 + kArrow.size());
  return made;
}

}  // namespace

std::string Case::option(const std::string& name, const std::string& other) const {
  const auto found = options.find(name);
  return found == options.end() ? other : found->second;
}

std::vector<Case> cases_in(const std::filesystem::path& folder) {
  std::map<std::string, Case> sorted;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    sorted.emplace(entry.path().filename().string(), read(entry.path()));
  }
  std::vector<Case> cases;
  for (auto& [name, given] : sorted) cases.push_back(std::move(given));
  return cases;
}

void update(const Case& given, const std::string& found) {
  std::ofstream(given.file) << given.head << given.input << kArrow << found;
}

}  // namespace luminal::golden

#include "luminal/pytorch/pt2/source_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace luminal::pytorch {
namespace {

constexpr std::string_view kFile = "File \"";

// Of PyTorch itself, or of code that it generated.
bool is_torchs(std::string_view file) {
  return file.find("/site-packages/torch/") != file.npos || file.starts_with("torch/") ||
         file.starts_with('<');
}

}  // namespace

std::string user_line(std::string_view trace) {
  std::string found;
  while (!trace.empty()) {
    const size_t end = std::min(trace.find('\n'), trace.size());
    const std::string_view line = trace.substr(0, end);
    trace.remove_prefix(std::min(end + 1, trace.size()));
    const size_t begin = line.find(kFile);
    if (begin == line.npos) continue;
    const std::string_view rest = line.substr(begin + kFile.size());
    const size_t close = rest.find('"'), number = rest.find("line ");
    if (close == rest.npos || number == rest.npos || is_torchs(rest)) continue;
    const std::string_view digits = rest.substr(number + 5);
    found = fmt::format("{}:{}", rest.substr(0, close),
                        digits.substr(0, digits.find_first_not_of("0123456789")));
    const std::string_view next = trace.substr(0, trace.find('\n'));
    const size_t text = std::min(next.find_first_not_of(' '), next.size());
    if (text < next.size() && !next.substr(text).starts_with(kFile)) {
      found += fmt::format(": {}", next.substr(text));
    }
  }
  return found;
}

std::string module_path(std::string_view stack) {
  const size_t last = stack.rfind(';');
  const std::string_view entry = stack.substr(last == stack.npos ? 0 : last + 1);
  const size_t begin = entry.find(',');
  const size_t end = begin == entry.npos ? entry.npos : entry.find(',', begin + 1);
  if (end == entry.npos || entry.starts_with("_empty")) return {};
  return std::string(entry.substr(begin + 1, end - begin - 1));
}

}  // namespace luminal::pytorch

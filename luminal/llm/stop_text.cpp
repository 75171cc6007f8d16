#include "luminal/llm/stop_text.h"

#include <algorithm>
#include <utility>

namespace luminal::llm {

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
}

std::string StopText::add(std::string_view piece) {
  if (!found_.empty()) return {};
  held_ += piece;
  size_t first = held_.npos;
  for (const std::string& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at >= first) continue;
    first = at;
    found_ = stop;
  }
  if (!found_.empty()) {
    std::string shown = held_.substr(0, first);
    held_.clear();
    return shown;
  }
  size_t waiting = 0;  // bytes at the end that a stop string begins with
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, held_.size()); n > waiting; --n) {
      if (held_.ends_with(std::string_view(stop).substr(0, n))) waiting = n;
    }
  }
  std::string shown = held_.substr(0, held_.size() - waiting);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopText::finish() { return std::exchange(held_, {}); }

}  // namespace luminal::llm

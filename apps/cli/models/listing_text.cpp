#include "apps/cli/models/listing_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace luminal::cli {

std::string listing_size(int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size < 1e4) return fmt::format("{} B", bytes);
  if (size < 1e6) return fmt::format("{:.1f} kB", size / 1e3);
  return size < 1e9 ? fmt::format("{:.1f} MB", size / 1e6) : fmt::format("{:.2f} GB", size / 1e9);
}

std::string listing_name(const std::string& name) {
  const std::string quoted =
      nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace luminal::cli

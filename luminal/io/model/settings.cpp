#include "luminal/io/settings.h"

#include <fmt/format.h>

#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"

namespace luminal {

Settings::~Settings() = default;

std::shared_ptr<const Settings> Settings::find_section(std::string_view) const { return nullptr; }

std::string Settings::lacks(std::string_view key) const {
  return fmt::format("{}: lacks {}", io::quote(name()), io::quote(key));
}

int64_t Settings::int_at(std::string_view key) const {
  if (const auto found = find_int(key)) return *found;
  throw UserError(lacks(key));
}

double Settings::real_at(std::string_view key) const {
  if (const auto found = find_real(key)) return *found;
  throw UserError(lacks(key));
}

std::string Settings::text_at(std::string_view key) const {
  if (auto found = find_text(key)) return *std::move(found);
  throw UserError(lacks(key));
}

}  // namespace luminal

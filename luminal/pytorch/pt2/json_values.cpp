#include "luminal/pytorch/pt2/json_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"

namespace luminal::pytorch {
namespace {

// Shortened, as it may be anything.
std::string quoted_value(const nlohmann::json& json) {
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  return io::quote(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int64_t integer_of(const nlohmann::json& json) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool fits =
      json.is_number_unsigned() ? json.get<uint64_t>() <= kMost : json.is_number_integer();
  if (fits) return json.get<int64_t>();
  throw UserError(fmt::format("{} is no integer of 64 bits", quoted_value(json)));
}

int64_t known_size_of(const nlohmann::json& json) { return integer_of(json.at("as_int")); }

std::string name_of(const nlohmann::json& json) {
  const auto& name = json.get_ref<const std::string&>();
  const bool plain = std::ranges::none_of(
      name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (plain) return name;
  throw UserError(fmt::format("the name {} has control characters", io::quote(name)));
}

}  // namespace luminal::pytorch

// Values of the files' JSON by kind: whatever isn't of the kind is a UserError that quotes it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace luminal::pytorch {

// A whole number that fits; the JSON library itself would wrap or convert what doesn't.
int64_t integer_of(const nlohmann::json& json);
// Of a size that is no symbol: {"as_int": 3}.
int64_t known_size_of(const nlohmann::json& json);
// Names of values, paths and members: text without control characters.
std::string name_of(const nlohmann::json& json);

}  // namespace luminal::pytorch

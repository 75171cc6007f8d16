// Writes a fusion profile as JSON, and reads it back with every field checked.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/text/json_text.h"
#include "luminal/driver/fusion/fusion_profile.h"

namespace luminal {
namespace {

using Json = nlohmann::json;
using Layout = base::JsonText::Layout;

constexpr const char* kVersionKey = "luminal_fusion_profile";
constexpr int64_t kVersion = 1;

// Thrown for JSON that differs from what FusionProfile::json() writes.
struct Damage {
  std::string why;
};

const Json& at(const Json& object, const char* name) {
  if (!object.is_object())
    throw Damage{fmt::format("the value that should hold '{}' isn't an object", name)};
  const auto found = object.find(name);
  if (found == object.end()) throw Damage{fmt::format("there is no '{}'", name)};
  return *found;
}

std::string text_at(const Json& object, const char* name) {
  const Json& value = at(object, name);
  if (!value.is_string()) throw Damage{fmt::format("'{}' isn't a string", name)};
  return value.get<std::string>();
}

int64_t number_at(const Json& object, const char* name, int64_t least) {
  const Json& value = at(object, name);
  if (!value.is_number_integer()) throw Damage{fmt::format("'{}' isn't an integer", name)};
  const auto number = value.get<int64_t>();
  if (number < least || number > std::numeric_limits<int32_t>::max()) {
    throw Damage{fmt::format("'{}' is {}", name, number)};
  }
  return number;
}

double positive_at(const Json& object, const char* name) {
  const Json& value = at(object, name);
  if (!value.is_number()) throw Damage{fmt::format("'{}' isn't a number", name)};
  const auto number = value.get<double>();
  if (!(number > 0) || !std::isfinite(number)) {
    throw Damage{fmt::format("'{}' is {}", name, number)};
  }
  return number;
}

bool flag_at(const Json& object, const char* name) {
  const Json& value = at(object, name);
  if (!value.is_boolean()) throw Damage{fmt::format("'{}' isn't true or false", name)};
  return value.get<bool>();
}

FusionPattern pattern_at(const Json& object) {
  const std::string word = text_at(object, "pattern");
  const auto pattern = fusion_pattern_from_name(word);
  if (!pattern) throw Damage{fmt::format("there is no pattern '{}'", word)};
  return *pattern;
}

FusionShape shape_at(const Json& object) {
  const std::string word = text_at(object, "dtype");
  const auto dtype = dtype_from_name(word);
  if (!dtype) throw Damage{fmt::format("there is no dtype '{}'", word)};
  return {.tokens = number_at(object, "tokens", 1),
          .hidden = number_at(object, "hidden", 1),
          .intermediate = number_at(object, "intermediate", 1),
          .dtype = *dtype};
}

FusionAnswer answer_at(const Json& object) {
  FusionAnswer answer{.fuse = flag_at(object, "fuse"),
                      .ratio = positive_at(object, "ratio"),
                      .low = positive_at(object, "low"),
                      .high = positive_at(object, "high"),
                      .rounds = static_cast<int>(number_at(object, "rounds", 0)),
                      .fused_kernels = static_cast<int>(number_at(object, "fused_kernels", 1)),
                      .unfused_kernels = static_cast<int>(number_at(object, "unfused_kernels", 1)),
                      .source = FusionSource::Profile};
  if (answer.low > answer.ratio || answer.ratio > answer.high) {
    throw Damage{"a ratio lies outside of its interval"};
  }
  return answer;
}

FusionConditions conditions_at(const Json& object) {
  const Json& device = at(object, "device");
  return {.device = text_at(device, "fingerprint"),
          .description = text_at(device, "description"),
          .compiler = text_at(object, "compiler"),
          .options = text_at(object, "options")};
}

FusionProfile profile_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Damage{"it isn't JSON"};
  if (number_at(json, kVersionKey, 1) != kVersion) throw Damage{"it has another format"};
  FusionProfile profile(conditions_at(json));
  const Json& answers = at(json, "answers");
  if (!answers.is_array()) throw Damage{"'answers' isn't a list"};
  for (const Json& one : answers) {
    const size_t before = profile.size();
    profile.add(pattern_at(one), shape_at(one), answer_at(one));
    if (profile.size() == before) throw Damage{"it answers a question twice"};
  }
  return profile;
}

}  // namespace

FusionProfile FusionProfile::parse(const std::string& json, const std::string& name) {
  try {
    return profile_of(json);
  } catch (const Damage& damage) {
    throw UserError(
        fmt::format("the fusion profile '{}' can't be used: {}; remove it, or make it again with "
                    "`luminal tune fusion --output FILE`",
                    name, damage.why));
  }
}

FusionProfile FusionProfile::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || std::filesystem::is_directory(file)) {
    throw UserError(
        fmt::format("can't read the fusion profile '{}'; check the name and its "
                    "permissions",
                    file.string()));
  }
  return parse(text.str(), file.string());
}

void FusionProfile::write(const std::filesystem::path& file) const {
  if (!base::replace_file(file, json())) {
    throw UserError(
        fmt::format("can't write the fusion profile '{}'; check the folder, its "
                    "permissions and the disk's free space",
                    file.string()));
  }
}

std::string FusionProfile::json() const {
  base::JsonText json;
  json.begin_object();
  json.field(kVersionKey, kVersion);
  json.key("device");
  json.begin_object();
  json.field("fingerprint", conditions_.device);
  json.field("description", conditions_.description);
  json.end_object();
  json.field("compiler", conditions_.compiler);
  json.field("options", conditions_.options);
  json.key("answers");
  json.begin_array();
  for (const auto& [key, answer] : answers_) {
    const auto& [pattern, dtype, hidden, intermediate] = key.first;
    json.begin_object(Layout::OnOneLine);
    json.field("pattern", luminal::name(pattern));
    json.field("dtype", luminal::name(dtype));
    json.field("hidden", hidden);
    json.field("intermediate", intermediate);
    json.field("tokens", key.second);
    json.field("fuse", answer.fuse);
    json.field("ratio", answer.ratio);
    json.field("low", answer.low);
    json.field("high", answer.high);
    json.field("rounds", answer.rounds);
    json.field("fused_kernels", answer.fused_kernels);
    json.field("unfused_kernels", answer.unfused_kernels);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace luminal

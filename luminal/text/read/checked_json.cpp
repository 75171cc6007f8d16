#include "luminal/text/read/checked_json.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/base/text/json_depth.h"

namespace luminal::tokens {
namespace {

constexpr int kMaxJsonDepth = 64;

// Strips "[json.exception…]", the position and the quoted text from "[json.exception…] parse error
// at line 1, column 2: syntax error …; last read: '…'".
std::string reason(std::string_view message) {
  if (size_t at = message.find(": "); at != message.npos) message.remove_prefix(at + 2);
  message = message.substr(0, message.find("; last read"));
  return std::string(message.substr(0, 120));
}

}  // namespace

Json parse_json(std::string_view text, const std::string& source) {
  // The JSON library takes a zero byte for the end and would ignore what follows.
  if (size_t zero = text.find('\0'); zero != text.npos) {
    throw UserError(fmt::format("'{}' isn't valid JSON at byte {}: a zero byte", source, zero));
  }
  if (base::json_depth(text) > kMaxJsonDepth) {
    throw UserError(fmt::format("'{}' is nested deeper than {}", source, kMaxJsonDepth));
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError(fmt::format("'{}' isn't valid JSON at byte {}: {}", source, error.byte,
                                reason(error.what())));
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("'{}' isn't valid JSON: {}", source, reason(error.what())));
  }
}

void JsonNode::fail(const std::string& what) const {
  throw UserError(
      fmt::format("'{}': {} {}", source_, path_.empty() ? "the file" : path_.substr(1, 120), what));
}

void JsonNode::require(bool holds, std::string_view wanted) const {
  if (!holds) fail(fmt::format("is {}, not {}", value_->type_name(), wanted));
}

bool JsonNode::has(const char* key) const {
  return value_->is_object() && value_->contains(key) && !(*value_)[key].is_null();
}

JsonNode JsonNode::at(const char* key) const {
  require(value_->is_object(), "an object");
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("has no '{}'", key));
  return JsonNode(*found, source_, path_ + "." + key);
}

JsonNode JsonNode::at(size_t index) const {
  require(value_->is_array(), "a list");
  if (index >= value_->size()) fail(fmt::format("has only {} items", value_->size()));
  return JsonNode((*value_)[index], source_, fmt::format("{}[{}]", path_, index));
}

const std::string& JsonNode::text() const {
  require(value_->is_string(), "a string");
  return value_->get_ref<const std::string&>();
}

bool JsonNode::flag() const {
  require(value_->is_boolean(), "true or false");
  return value_->get<bool>();
}

int64_t JsonNode::integer(int64_t low, int64_t high) const {
  require(value_->is_number_integer(), "an integer");
  const bool huge = value_->is_number_unsigned() && value_->get<uint64_t>() > INT64_MAX;
  const int64_t number = huge ? INT64_MAX : value_->get<int64_t>();
  if (huge || number < low || number > high) {
    fail(fmt::format("is {}, which isn't between {} and {}", value_->dump(), low, high));
  }
  return number;
}

double JsonNode::number() const {
  require(value_->is_number(), "a number");
  return value_->get<double>();
}

std::string JsonNode::text_or(const char* key, const std::string& otherwise) const {
  return has(key) ? at(key).text() : otherwise;
}

bool JsonNode::flag_or(const char* key, bool otherwise) const {
  return has(key) ? at(key).flag() : otherwise;
}

int64_t JsonNode::integer_or(const char* key, int64_t low, int64_t high, int64_t otherwise) const {
  return has(key) ? at(key).integer(low, high) : otherwise;
}

}  // namespace luminal::tokens

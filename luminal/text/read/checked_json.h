// Untrusted JSON: parsed with bounded nesting, read with the path of the faulty value.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace luminal::tokens {

using Json = nlohmann::json;

// Parses JSON. UserError, with the source and the byte, if invalid or nested deeper than 64.
Json parse_json(std::string_view text, const std::string& source);

// A value with its path ("model.vocab"); its readers throw a UserError that names the path.
class JsonNode {
 public:
  JsonNode(const Json& value, std::string source) : JsonNode(value, std::move(source), "") {}

  [[noreturn]] void fail(const std::string& what) const;

  bool has(const char* key) const;  // true if present and not null
  JsonNode at(const char* key) const;
  JsonNode at(size_t index) const;
  size_t size() const { return value_->size(); }

  // Calls `use(key, node)` for each member.
  template <typename Use>
  void each_member(const Use& use) const {
    require(value_->is_object(), "an object");
    for (const auto& [key, member] : value_->items())
      use(key, JsonNode(member, source_, path_ + "." + key));
  }
  template <typename Use>
  void each_item(const Use& use) const {
    require(value_->is_array(), "a list");
    for (size_t i = 0; i < value_->size(); ++i) use(at(i));
  }

  const std::string& text() const;
  bool flag() const;
  int64_t integer(int64_t low, int64_t high) const;
  double number() const;
  std::string text_or(const char* key, const std::string& otherwise) const;
  bool flag_or(const char* key, bool otherwise) const;
  int64_t integer_or(const char* key, int64_t low, int64_t high, int64_t otherwise) const;

  // The value itself, for long lists: a path per item would cost more than the item.
  const Json& raw() const { return *value_; }

  bool is_text() const { return value_->is_string(); }
  bool is_list() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }
  const std::string& path() const { return path_; }
  const std::string& source() const { return source_; }

 private:
  JsonNode(const Json& value, std::string source, std::string path)
      : value_(&value), source_(std::move(source)), path_(std::move(path)) {}
  void require(bool holds, std::string_view wanted) const;

  const Json* value_;
  std::string source_;
  std::string path_;
};

}  // namespace luminal::tokens

#include "luminal/io/config.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"

namespace luminal {
namespace {

using io::quote;
using Json = nlohmann::json;

// Real ones have some kilobytes; the values of a text take up to thirty times its size.
constexpr size_t kMaxBytes = 4'000'000;
constexpr size_t kMaxDepth = 32;

[[noreturn]] void fail_config(const std::string& file, const std::string& message) {
  throw UserError(fmt::format("config: {}: {}", quote(file), message));
}

// Goes through a text before it is parsed: watches depth and keys. (A callback of the parser would
// do, but with one it takes quadratic time for a list of objects.)
class Watch : public nlohmann::json_sax<Json> {
 public:
  explicit Watch(const std::string& file) : file_(file) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second) {
      fail_config(file_, fmt::format("has the key {} twice", quote(key)));
    }
    return true;
  }
  // What is wrong, the parser says.
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool open() {
    if (keys_.size() >= kMaxDepth) {
      fail_config(file_, fmt::format("is nested deeper than {}", kMaxDepth));
    }
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  const std::string& file_;
  std::vector<std::set<std::string>> keys_;  // of each open object
};

std::string_view kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
    case Json::value_t::discarded:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    case Json::value_t::number_unsigned:
      if (value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return "an integer of more than 63 bits";
      }
      return "an integer";
    case Json::value_t::number_integer:
      return "an integer";
    case Json::value_t::number_float:
      return "a fraction";
    case Json::value_t::binary:
      return "binary data";
  }
  return {};
}

std::optional<int64_t> to_int(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(number) != number || std::abs(number) > kExact) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::optional<double> to_real(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<bool> to_bool(const Json& value) {
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

std::optional<std::string> to_text(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::string_view text_of(const base::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

Json parse_checked(std::string_view text, const std::string& name) {
  if (text.size() > kMaxBytes) {
    fail_config(name, fmt::format("has {} bytes, over the limit of {}", text.size(), kMaxBytes));
  }
  // The JSON library takes a zero byte for the end and would ignore what follows it.
  if (size_t zero = text.find('\0'); zero != text.npos) {
    fail_config(name, fmt::format("isn't valid JSON at byte {}: a zero byte", zero));
  }
  try {
    Watch watch(name);
    Json::sax_parse(text.begin(), text.end(), &watch);
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    fail_config(name, fmt::format("isn't valid JSON at byte {}: {}", error.byte,
                                  io::json_fault(error.what())));
  } catch (const Json::exception& error) {  // a number past all ranges
    fail_config(name, fmt::format("isn't valid JSON: {}", io::json_fault(error.what())));
  }
}

}  // namespace

struct Config::Contents {
  std::string name;
  std::string place;  // of this object in the file: "rope_scaling.", or nothing
  std::shared_ptr<const Json> whole;
  const Json* object = nullptr;  // within `whole`

  static std::shared_ptr<const Contents> of(const Json& object, std::shared_ptr<const Json> whole,
                                            std::string place, std::string name) {
    if (!object.is_object()) {
      fail_config(name, fmt::format("holds {}{}, but an object is expected", kind_of(object),
                                    place.empty() ? "" : " in its list"));
    }
    return std::make_shared<const Contents>(
        Contents{std::move(name), std::move(place), std::move(whole), &object});
  }

  const Json* find(std::string_view key) const {
    auto found = object->find(key);
    return found == object->end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void wrong_kind(std::string_view key, std::string_view wanted,
                               const Json& found) const {
    fail_config(name, fmt::format("{} is {}, but {} is expected", quote(place + std::string(key)),
                                  kind_of(found), wanted));
  }

  template <typename To>
  std::optional<To> find_as(std::string_view key, std::string_view wanted,
                            std::optional<To> (*convert)(const Json&)) const {
    const Json* value = find(key);
    if (!value) return std::nullopt;
    std::optional<To> converted = convert(*value);
    if (!converted) wrong_kind(key, wanted, *value);
    return converted;
  }

  template <typename To>
  std::optional<std::vector<To>> find_list(std::string_view key, std::string_view wanted,
                                           std::optional<To> (*convert)(const Json&)) const {
    const Json* value = find(key);
    if (!value) return std::nullopt;
    std::vector<To> list;
    const auto add = [&](const Json& item) {
      std::optional<To> converted = convert(item);
      if (!converted) wrong_kind(key, wanted, item);
      list.push_back(*std::move(converted));
    };
    if (value->is_array()) {
      for (const Json& item : *value) add(item);
    } else {
      add(*value);
    }
    return list;
  }
};

Config::Config(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Config Config::open(const std::string& path) {
  const base::MappedFile file(path);
  return parse(text_of(file), path);
}

Config Config::parse(std::string_view text, std::string name) {
  auto whole = std::make_shared<const Json>(parse_checked(text, name));
  return Config(Contents::of(*whole, whole, "", std::move(name)));
}

std::vector<Config> Config::open_list(const std::string& path) {
  const base::MappedFile file(path);
  return parse_list(text_of(file), path);
}

std::vector<Config> Config::parse_list(std::string_view text, std::string name) {
  auto whole = std::make_shared<const Json>(parse_checked(text, name));
  if (!whole->is_array()) {
    fail_config(name, fmt::format("holds {}, but a list is expected", kind_of(*whole)));
  }
  std::vector<Config> list;
  for (const Json& item : *whole) {
    list.push_back(Config(Contents::of(item, whole, fmt::format("{}.", list.size()), name)));
  }
  return list;
}

std::optional<int64_t> Config::find_int(std::string_view key) const {
  return contents_->find_as(key, "an integer", to_int);
}
std::optional<double> Config::find_real(std::string_view key) const {
  return contents_->find_as(key, "a number", to_real);
}
std::optional<bool> Config::find_bool(std::string_view key) const {
  return contents_->find_as(key, "true or false", to_bool);
}
std::optional<std::string> Config::find_text(std::string_view key) const {
  return contents_->find_as(key, "a string", to_text);
}
std::optional<std::vector<int64_t>> Config::find_ints(std::string_view key) const {
  return contents_->find_list(key, "a list of integers", to_int);
}
std::optional<std::vector<double>> Config::find_reals(std::string_view key) const {
  return contents_->find_list(key, "a list of numbers", to_real);
}
std::optional<std::vector<std::string>> Config::find_texts(std::string_view key) const {
  return contents_->find_list(key, "a list of strings", to_text);
}

std::optional<Config> Config::find_object(std::string_view key) const {
  const Json* value = contents_->find(key);
  if (!value) return std::nullopt;
  if (!value->is_object()) contents_->wrong_kind(key, "an object", *value);
  auto inner = std::make_shared<Contents>(*contents_);
  inner->place += std::string(key) + ".";
  inner->object = value;
  return Config(std::move(inner));
}

std::shared_ptr<const Settings> Config::find_section(std::string_view key) const {
  const std::optional<Config> found = find_object(key);
  return found ? std::make_shared<const Config>(*found) : nullptr;
}

std::string Config::lacks(std::string_view key) const {
  return fmt::format("config: {}: lacks {}", quote(name()),
                     quote(contents_->place + std::string(key)));
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto& item : contents_->object->items()) keys.push_back(item.key());
  return keys;
}

std::string Config::json(std::string_view key) const {
  auto found = contents_->object->find(key);
  return found == contents_->object->end() ? "null" : found->dump();
}
std::string Config::json() const { return contents_->object->dump(); }
const std::string& Config::name() const { return contents_->name; }

}  // namespace luminal

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/text/json_text.h"
#include "luminal/machine/peaks.h"

namespace luminal::machine {
namespace {

constexpr int kFormat = 1;
constexpr double kLargest = 1e18;

// A rate or a time by its name in the file.
struct Field {
  const char* name;
  double Peaks::* value;
};
constexpr Field kFields[] = {
    {"elementwise_flops", &Peaks::elementwise},    {"f32_product_flops", &Peaks::f32_products},
    {"bf16_product_flops", &Peaks::bf16_products}, {"i8_product_flops", &Peaks::i8_products},
    {"launch_seconds", &Peaks::launch_seconds},    {"barrier_seconds", &Peaks::barrier_seconds}};
struct Cache {
  const char* name;
  uint64_t Peaks::* bytes;
};
constexpr Cache kCaches[] = {{"l1", &Peaks::l1}, {"l2", &Peaks::l2}, {"l3", &Peaks::l3}};

// Rates that files of before don't have.
constexpr Field kCacheRates[] = {{"l2_bytes", &Peaks::l2_bytes}, {"l3_bytes", &Peaks::l3_bytes}};

class Reader {
 public:
  Reader(const nlohmann::json& object, const std::string& source)
      : object_(object), source_(source) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(
        fmt::format("'{}' holds no peaks of a machine: {}; `luminal doctor --measure` writes them",
                    source_, why));
  }
  const nlohmann::json& field(const char* name) const {
    if (!object_.is_object() || !object_.contains(name)) {
      refuse(fmt::format("'{}' is missing", name));
    }
    return object_[name];
  }
  double number(const char* name) const {
    const nlohmann::json& value = field(name);
    if (!value.is_number()) refuse(fmt::format("'{}' isn't a number", name));
    const auto number = value.get<double>();
    if (!(number > 0 && number <= kLargest)) {
      refuse(fmt::format("'{}' is {}, not above 0", name, number));
    }
    return number;
  }
  int count(const char* name) const {
    const double number = this->number(name);
    if (number != std::floor(number) || number > 1e6) {
      refuse(fmt::format("'{}' is {}, which isn't a number of threads", name, number));
    }
    return static_cast<int>(number);
  }
  std::string word(const char* name) const {
    const nlohmann::json& value = field(name);
    if (!value.is_string()) refuse(fmt::format("'{}' isn't a string", name));
    return value.get<std::string>();
  }

 private:
  const nlohmann::json& object_;
  const std::string& source_;
};

}  // namespace

std::string to_json(const Peaks& peaks) {
  using Layout = base::JsonText::Layout;
  base::JsonText json;
  json.begin_object();
  json.field("format", kFormat);
  json.field("processor", peaks.processor);
  json.field("measured", peaks.source);
  json.field("threads", peaks.threads);
  json.key("memory");
  json.begin_array();
  for (const Bandwidth& bandwidth : peaks.memory) {
    json.begin_object(Layout::OnOneLine);
    json.field("threads", bandwidth.threads);
    json.field("read_bytes", bandwidth.read);
    json.field("copy_bytes", bandwidth.copy);
    json.end_object();
  }
  json.end_array();
  for (const Field& field : kFields) json.field(field.name, peaks.*field.value);
  for (const Field& field : kCacheRates) {
    if (peaks.*field.value > 0) json.field(field.name, peaks.*field.value);
  }
  json.field("others_cores", peaks.others);
  json.key("caches");
  json.begin_object(Layout::OnOneLine);
  for (const Cache& cache : kCaches) json.field(cache.name, peaks.*cache.bytes);
  json.end_object();
  json.end_object();
  return json.text() + "\n";
}

Peaks from_json(const std::string& json, const std::string& source) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, false);
  const Reader reader(parsed, source);
  if (!parsed.is_object()) reader.refuse("it isn't a JSON object");
  if (reader.count("format") != kFormat) reader.refuse("it has another format");
  Peaks peaks{.origin = PeaksOrigin::Measured,
              .source = reader.word("measured"),
              .processor = reader.word("processor"),
              .threads = reader.count("threads"),
              .memory = {}};
  for (const nlohmann::json& entry : reader.field("memory")) {
    const Reader of(entry, source);
    const Bandwidth bandwidth{of.count("threads"), of.number("read_bytes"),
                              of.number("copy_bytes")};
    if (!peaks.memory.empty() && bandwidth.threads <= peaks.memory.back().threads) {
      reader.refuse("'memory' isn't sorted by ascending threads");
    }
    peaks.memory.push_back(bandwidth);
  }
  if (peaks.memory.empty()) reader.refuse("'memory' is empty");
  for (const Field& field : kFields) peaks.*field.value = reader.number(field.name);
  for (const Field& field : kCacheRates) {
    if (parsed.contains(field.name)) peaks.*field.value = reader.number(field.name);
  }
  if (const auto others = parsed.find("others_cores"); others != parsed.end()) {
    if (others->is_number()) peaks.others = others->get<double>();
  }
  const Reader caches(reader.field("caches"), source);
  for (const Cache& cache : kCaches) {
    peaks.*cache.bytes = static_cast<uint64_t>(caches.number(cache.name));
  }
  return peaks;
}

}  // namespace luminal::machine

#include "luminal/records/lines.h"

#include <fmt/format.h>

#include <istream>
#include <limits>
#include <nlohmann/json.hpp>

#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/json_depth.h"
#include "luminal/base/text/json_text.h"
#include "luminal/records/row_key.h"

namespace luminal::records {
namespace {

using Json = nlohmann::json;
using base::JsonText;

constexpr std::string_view kHeaderKey = "luminal_records";
constexpr int kMaxDepth = 4;
// Enough for a question and a plan, both in hex, and the other fields.
constexpr size_t kMostLineBytes = 5 * kMostTextBytes;

// Thrown for a line that line_of() can't have written.
struct BadLine {
  std::string why;
};

// Texts may be any bytes: those that aren't valid UTF-8 become {"hex": "…"}.
void write_text(JsonText& json, std::string_view name, std::string_view text) {
  if (base::is_utf8(text)) return json.field(name, text);
  std::string digits;
  for (unsigned char byte : text) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  json.key(name);
  json.begin_object();
  json.field("hex", digits);
  json.end_object();
}

void write(JsonText& json, const Device& device) {
  json.field("kind", "device");
  json.field("fingerprint", device.fingerprint);
  write_text(json, "description", device.description);
  write_text(json, "peaks", device.peaks);
}

void write(JsonText& json, const KernelEntry& entry) {
  const auto& [key, record] = entry;
  json.field("kind", "kernel");
  write_text(json, "kernel", key.kernel);
  write_text(json, "device", key.device);
  write_text(json, "compiler", key.compiler);
  json.field("seconds", record.seconds);
  json.field("low", record.low);
  json.field("high", record.high);
  json.field("samples", record.samples);
  json.field("checked", record.checked);
  write_text(json, "note", record.note);
  json.field("sum", sum_of(row_key(key), record));
}

void write(JsonText& json, const PlanEntry& entry) {
  const RowKey at = row_key(entry.key);
  json.field("kind", "plan");
  write_text(json, "question", entry.key.question);
  write_text(json, "device", entry.key.device);
  write_text(json, "compiler", entry.key.compiler);
  if (entry.champion) {
    json.key("plan");
    json.begin_object();
    write_text(json, "bytes", entry.champion->bytes);
    json.field("rank", entry.champion->rank);
    json.field("sum", sum_of(at, base::digest(entry.champion->bytes), entry.champion->rank));
    json.end_object();
  }
  json.key("comparisons");
  json.begin_array();
  for (const Comparison& of : entry.comparisons) {
    json.begin_object();
    write_text(json, "champion", of.champion);
    write_text(json, "challenger", of.challenger);
    json.field("ratio", of.ratio);
    json.field("low", of.low);
    json.field("high", of.high);
    json.field("rounds", of.rounds);
    json.field("sum", sum_of(at, of));
    json.end_object();
  }
  json.end_array();
}

// Reads the fields of an object; unread fields are an error.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {
    if (!object.is_object()) throw BadLine{"it isn't an object"};
  }

  bool has(const char* name) const { return object_.contains(name); }
  const Json& at(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) throw BadLine{fmt::format("it has no '{}'", name)};
    ++read_;
    return *found;
  }
  std::string plain(const char* name) {
    const Json& value = at(name);
    if (!value.is_string()) throw BadLine{fmt::format("'{}' isn't a string", name)};
    return value.get<std::string>();
  }
  std::string text(const char* name) {
    if (!at(name).is_object()) return --read_, plain(name);
    Fields inner(object_.at(name));
    std::string bytes = from_hex(inner.plain("hex"), name);
    inner.finish();
    return bytes;
  }
  double real(const char* name) {
    const Json& value = at(name);
    if (!value.is_number()) throw BadLine{fmt::format("'{}' isn't a number", name)};
    return value.get<double>();
  }
  template <typename Integer>
  Integer integer(const char* name) {
    const Json& value = at(name);
    if (!value.is_number_integer()) throw BadLine{fmt::format("'{}' isn't an integer", name)};
    const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
    const int64_t number = huge ? 0 : value.get<int64_t>();
    if (huge || number < 0 || number > std::numeric_limits<Integer>::max()) {
      throw BadLine{fmt::format("'{}' is out of range", name)};
    }
    return static_cast<Integer>(number);
  }
  bool flag(const char* name) {
    const Json& value = at(name);
    if (!value.is_boolean()) throw BadLine{fmt::format("'{}' isn't true or false", name)};
    return value.get<bool>();
  }
  // An unknown field may change the meaning of the others.
  void finish() const {
    if (read_ != object_.size()) throw BadLine{"it has fields that this version doesn't know"};
  }

 private:
  static std::string from_hex(const std::string& digits, const char* name) {
    const auto value = [&](char digit) {
      const size_t at = std::string_view("0123456789abcdef").find(digit);
      if (at == std::string_view::npos) throw BadLine{fmt::format("'{}' isn't hex", name)};
      return static_cast<unsigned>(at);
    };
    if (digits.size() % 2 != 0) throw BadLine{fmt::format("'{}' isn't hex", name)};
    std::string bytes;
    for (size_t i = 0; i < digits.size(); i += 2) {
      bytes += static_cast<char>(value(digits[i]) << 4 | value(digits[i + 1]));
    }
    return bytes;
  }

  const Json& object_;
  size_t read_ = 0;
};

void require(const std::string& why_not) {
  if (!why_not.empty()) throw BadLine{why_not};
}

void require_sum(const std::string& expected, const std::string& found) {
  if (expected != found) throw BadLine{"its checksum doesn't match"};
}

Device read_device(Fields& line) {
  Device device{.fingerprint = line.plain("fingerprint"),
                .description = line.text("description"),
                .peaks = line.text("peaks")};
  line.finish();
  require(why_refused(device));
  return device;
}

KernelEntry read_kernel(Fields& line) {
  KernelEntry entry;
  entry.key = {line.text("kernel"), line.text("device"), line.text("compiler")};
  entry.record = {.seconds = line.real("seconds"),
                  .low = line.real("low"),
                  .high = line.real("high"),
                  .samples = line.integer<int>("samples"),
                  .checked = line.flag("checked"),
                  .note = line.text("note")};
  const std::string sum = line.plain("sum");
  line.finish();
  require(why_refused(entry.key));
  require(why_refused(entry.record));
  require_sum(sum_of(row_key(entry.key), entry.record), sum);
  return entry;
}

Champion read_champion(const Json& json, const RowKey& at) {
  Fields object(json);
  Champion champion{.bytes = object.text("bytes"), .rank = object.integer<int64_t>("rank")};
  const std::string sum = object.plain("sum");
  object.finish();
  require(why_refused(champion));
  require_sum(sum_of(at, base::digest(champion.bytes), champion.rank), sum);
  return champion;
}

Comparison read_comparison(const Json& json, const RowKey& at) {
  Fields object(json);
  Comparison comparison{.champion = object.text("champion"),
                        .challenger = object.text("challenger"),
                        .ratio = object.real("ratio"),
                        .low = object.real("low"),
                        .high = object.real("high"),
                        .rounds = object.integer<int>("rounds")};
  const std::string sum = object.plain("sum");
  object.finish();
  require(why_refused(comparison));
  require_sum(sum_of(at, comparison), sum);
  return comparison;
}

PlanEntry read_plan(Fields& line) {
  PlanEntry entry;
  entry.key = {line.text("question"), line.text("device"), line.text("compiler")};
  require(why_refused(entry.key));
  const RowKey at = row_key(entry.key);
  if (line.has("plan")) entry.champion = read_champion(line.at("plan"), at);
  const Json& comparisons = line.at("comparisons");
  if (!comparisons.is_array()) throw BadLine{"'comparisons' isn't a list"};
  for (const Json& of : comparisons) entry.comparisons.push_back(read_comparison(of, at));
  line.finish();
  return entry;
}

Entry read_entry(Fields& line) {
  const std::string kind = line.plain("kind");
  if (kind == "device") return read_device(line);
  if (kind == "kernel") return read_kernel(line);
  if (kind == "plan") return read_plan(line);
  throw BadLine{"its kind is neither device, kernel nor plan"};
}

Json parse(std::string_view line) {
  // The JSON library treats a zero byte as the end and would ignore what follows.
  if (line.find('\0') != line.npos) throw BadLine{"it isn't JSON: a zero byte"};
  if (base::json_depth(line) > kMaxDepth) {
    throw BadLine{fmt::format("it is nested deeper than {}", kMaxDepth)};
  }
  try {
    return Json::parse(line.begin(), line.end());
  } catch (const Json::exception&) {
    throw BadLine{"it isn't JSON"};
  }
}

}  // namespace

std::string header_line() { return fmt::format("{{\"{}\": {}}}", kHeaderKey, kLinesVersion); }

std::string line_of(const Entry& entry) {
  JsonText json;
  json.begin_object(JsonText::Layout::OnOneLine);
  std::visit([&](const auto& of) { write(json, of); }, entry);
  json.end_object();
  return json.text();
}

void check_header(std::string_view line, const std::string& source) {
  int version = 0;
  try {
    const Json json = parse(line);
    Fields header(json);
    version = header.integer<int>(kHeaderKey.data());
  } catch (const BadLine&) {
    throw UserError(
        fmt::format("records: '{}' doesn't begin with the line {} of exported records; for a "
                    "records file itself use 'luminal tune merge'",
                    source, header_line()));
  }
  if (version == kLinesVersion) return;
  throw UserError(
      fmt::format("records: '{}' holds exported records of version {}, and this program reads {}; "
                  "export them with this version, or use {} one",
                  source, version, kLinesVersion, version > kLinesVersion ? "a newer" : "that"));
}

Result<Entry> parse_line(std::string_view line) {
  if (line.size() > kMostLineBytes) return Result<Entry>::failure("it is too long");
  try {
    const Json json = parse(line);
    Fields fields(json);
    return read_entry(fields);
  } catch (const BadLine& bad) {
    return Result<Entry>::failure(bad.why);
  }
}

bool read_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& buffer = *in.rdbuf();
  int next = buffer.sbumpc();
  if (next == std::char_traits<char>::eof()) return false;
  for (; next != std::char_traits<char>::eof() && next != '\n'; next = buffer.sbumpc()) {
    if (line.size() <= kMostLineBytes) line += static_cast<char>(next);
  }
  return true;
}

}  // namespace luminal::records

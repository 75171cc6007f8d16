#include "luminal/io/safetensors/safetensors_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"

namespace luminal::io {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr size_t kMaxRank = 64;
constexpr size_t kMaxIndexDepth = 16;

// The dtypes of the format; those the library lacks are here so that their sizes can be checked.
struct FileDType {
  std::string_view text;
  int bits;
  std::optional<DType> dtype;
};
constexpr FileDType kFileDTypes[] = {
    {"F64", 64, DType::F64},      {"F32", 32, DType::F32},      {"F16", 16, DType::F16},
    {"BF16", 16, DType::BF16},    {"I64", 64, DType::I64},      {"I32", 32, DType::I32},
    {"I16", 16, DType::I16},      {"I8", 8, DType::I8},         {"U8", 8, DType::U8},
    {"BOOL", 8, DType::Bool},     {"U64", 64, std::nullopt},    {"U32", 32, std::nullopt},
    {"U16", 16, std::nullopt},    {"C64", 64, std::nullopt},    {"F8_E5M2", 8, std::nullopt},
    {"F8_E4M3", 8, std::nullopt}, {"F8_E8M0", 8, std::nullopt}, {"F6_E2M3", 6, std::nullopt},
    {"F6_E3M2", 6, std::nullopt}, {"F4", 4, std::nullopt},
};

const FileDType* find_file_dtype(std::string_view text) {
  const auto* found =
      std::find_if(std::begin(kFileDTypes), std::end(kFileDTypes),
                   [&](const FileDType& candidate) { return candidate.text == text; });
  return found == std::end(kFileDTypes) ? nullptr : found;
}

// Bytes of a tensor; none when they don't fit 63 bits or aren't whole.
std::optional<int64_t> checked_bytes(const std::vector<int64_t>& dims, int bits) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  int64_t total = 0;
  if (__builtin_mul_overflow(count, int64_t{bits}, &total) || total % 8 != 0) return std::nullopt;
  return total / 8;
}

// What every reader of these texts shares: numbers and nesting it doesn't expect, and bad JSON, are
// errors at once, so neither stack nor memory follows the nesting of a hostile text.
class StrictReader : public nlohmann::json_sax<Json> {
 public:
  StrictReader(const std::string& file, std::string_view what) : file_(file), what_(what) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(int64_t) override { unexpected("a negative number"); }
  bool number_unsigned(uint64_t) override { unexpected("a number"); }
  bool number_float(double, const std::string&) override { unexpected("a fraction"); }
  bool string(std::string&) override { unexpected("a string"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool start_object(size_t) override { unexpected("an object"); }
  bool end_object() override { return true; }
  bool start_array(size_t) override { unexpected("an array"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail(fmt::format("isn't valid JSON at byte {}: {}", position, json_fault(error.what())));
  }

  void read(std::string_view text) {
    // The JSON library takes a zero byte for the end and would ignore what follows it.
    if (size_t zero = text.find('\0'); zero != text.npos) {
      fail(fmt::format("isn't valid JSON at byte {}: a zero byte", zero));
    }
    Json::sax_parse(text.begin(), text.end(), this);
  }

 protected:
  // Where in the text the reader stands, for messages.
  virtual std::string place() const = 0;

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(fmt::format("safetensors: {}: the {} {}", quote(file_), what_, message));
  }
  [[noreturn]] void unexpected(std::string_view found) const {
    fail(fmt::format("has {} {}", found, place()));
  }

 private:
  const std::string& file_;
  std::string_view what_;
};

// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"k": "v"}}
class HeaderReader final : public StrictReader {
 public:
  explicit HeaderReader(const std::string& file) : StrictReader(file, "header") {}

  Header take() { return {std::move(entries_), std::move(metadata_)}; }

  bool start_object(size_t) override {
    if (level_ == Level::Outside) {
      level_ = Level::Top;
    } else if (level_ == Level::Top && name_ == kMetadataKey) {
      if (has_metadata_) fail("has the key '__metadata__' twice");
      has_metadata_ = true;
      level_ = Level::Metadata;
    } else if (level_ == Level::Top) {
      level_ = Level::Tensor;
      entry_ = {};
      entry_.info.name = name_;
      offsets_.clear();
      has_dtype_ = has_dims_ = has_offsets_ = false;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& text) override {
    (level_ == Level::Top ? name_ : field_) = text;
    if (level_ == Level::Metadata && metadata_.contains(text)) {
      fail(fmt::format("has the key {} twice in '__metadata__'", quote(text)));
    }
    if (level_ == Level::Tensor) start_field();
    return true;
  }

  bool string(std::string& text) override {
    if (level_ == Level::Metadata) {
      metadata_[field_] = text;
    } else if (level_ == Level::Tensor && field_ == "dtype") {
      entry_.info.file_dtype = text;
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_array(size_t) override {
    if (level_ != Level::Tensor || field_ == "dtype") unexpected("an array");
    level_ = Level::Numbers;
    return true;
  }

  bool number_unsigned(uint64_t number) override {
    if (level_ != Level::Numbers) unexpected("a number");
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(fmt::format("has {} {}, which is too large", number, place()));
    }
    std::vector<int64_t>& numbers = field_ == "shape" ? entry_.info.dims : offsets_;
    if (numbers.size() == (field_ == "shape" ? kMaxRank : 2)) {
      fail(fmt::format("has more than {} numbers {}", numbers.size(), place()));
    }
    numbers.push_back(static_cast<int64_t>(number));
    return true;
  }

  bool end_array() override {
    level_ = Level::Tensor;
    return true;
  }

  bool end_object() override {
    if (level_ == Level::Tensor) finish_tensor();
    level_ = level_ == Level::Top ? Level::Outside : Level::Top;
    return true;
  }

 private:
  enum class Level : uint8_t { Outside, Top, Metadata, Tensor, Numbers };

  std::string place() const override {
    switch (level_) {
      case Level::Outside:
        return "where its outermost object should be";
      case Level::Top:
        return fmt::format("where {} should be an object", quote(name_));
      case Level::Metadata:
        return fmt::format("as '__metadata__' {}, not a string", quote(field_));
      case Level::Tensor:
      case Level::Numbers:
        return fmt::format("in {} of tensor {}", quote(field_), quote(name_));
    }
    return {};
  }

  void start_field() {
    bool* seen = field_ == "dtype"          ? &has_dtype_
                 : field_ == "shape"        ? &has_dims_
                 : field_ == "data_offsets" ? &has_offsets_
                                            : nullptr;
    if (!seen) fail(fmt::format("has the unknown key {} {}", quote(field_), of_tensor()));
    if (*seen) fail(fmt::format("has {} twice {}", quote(field_), of_tensor()));
    *seen = true;
  }

  void finish_tensor() {
    if (!has_dtype_) fail(fmt::format("has no 'dtype' {}", of_tensor()));
    if (!has_dims_) fail(fmt::format("has no 'shape' {}", of_tensor()));
    if (!has_offsets_) fail(fmt::format("has no 'data_offsets' {}", of_tensor()));
    if (offsets_.size() != 2) {
      fail(fmt::format("has {} of 2 numbers in 'data_offsets' {}", offsets_.size(), of_tensor()));
    }
    if (offsets_[0] > offsets_[1]) {
      fail(fmt::format("has 'data_offsets' {} to {} {}, which end before they begin", offsets_[0],
                       offsets_[1], of_tensor()));
    }
    entry_.begin = offsets_[0];
    entry_.info.n_bytes = offsets_[1] - offsets_[0];
    entry_.info.dims.shrink_to_fit();
    entries_.push_back(std::move(entry_));
  }

  std::string of_tensor() const { return fmt::format("of tensor {}", quote(name_)); }

  Level level_ = Level::Outside;
  std::string name_;   // the key at the top
  std::string field_;  // the key within it
  HeaderEntry entry_;
  std::vector<int64_t> offsets_;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_dims_ = false;
  bool has_offsets_ = false;
  std::vector<HeaderEntry> entries_;
  Metadata metadata_;
};

// {"metadata": anything, "weight_map": {"name": "model-00001-of-00002.safetensors"}}
class IndexReader final : public StrictReader {
 public:
  explicit IndexReader(const std::string& file) : StrictReader(file, "index") {}

  ShardIndex take() {
    if (!has_weight_map_) fail("has no 'weight_map'");
    return std::move(index_);
  }

  bool null() override { return ignore("null"); }
  bool boolean(bool) override { return ignore("true or false"); }
  bool number_integer(int64_t) override { return ignore("a number"); }
  bool number_unsigned(uint64_t) override { return ignore("a number"); }
  bool number_float(double, const std::string&) override { return ignore("a number"); }
  bool start_array(size_t) override { return ignore("an array") && open(); }
  bool end_array() override { return close(); }
  bool end_object() override { return close(); }

  bool start_object(size_t) override {
    if (depth_ == 1 && top_key_ == "weight_map") {
      if (has_weight_map_) fail("has the key 'weight_map' twice");
      has_weight_map_ = true;
    } else if (depth_ > 0) {
      ignore("an object");
    }
    return open();
  }

  bool key(std::string& text) override {
    if (depth_ == 1) top_key_ = text;
    if (depth_ == 2) name_ = text;
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ != 2 || top_key_ != "weight_map") return ignore("a string");
    check_shard_path(text);
    index_.weight_map.emplace_back(name_, text);
    return true;
  }

 private:
  std::string place() const override {
    if (depth_ == 0) return "where its outermost object should be";
    if (depth_ == 1) return "where 'weight_map' should be an object";
    return fmt::format("as the file of {}, not a string", quote(name_));
  }

  bool open() {
    if (++depth_ > kMaxIndexDepth) fail(fmt::format("is nested deeper than {}", kMaxIndexDepth));
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  // A value of no interest, which must not stand where the weight map or a part of it belongs.
  bool ignore(std::string_view found) {
    if (depth_ == 0 || top_key_ == "weight_map") unexpected(found);
    return true;
  }

  // Shards lie beside the index or below it: an index from elsewhere must not name other files.
  void check_shard_path(std::string_view path) const {
    bool good = !path.empty() && path.find('\0') == path.npos && path.find('\\') == path.npos;
    for (size_t start = 0; good && start <= path.size();) {
      size_t end = std::min(path.find('/', start), path.size());
      std::string_view part = path.substr(start, end - start);
      good = !part.empty() && part != "." && part != "..";
      start = end + 1;
    }
    if (!good) {
      fail(fmt::format("names the file {} for {}; it must lie in the folder of the index",
                       quote(path), quote(name_)));
    }
  }

  size_t depth_ = 0;
  bool has_weight_map_ = false;
  std::string top_key_;
  std::string name_;
  ShardIndex index_;
};

// Checks of a header as a whole, once all of it is read.
class HeaderCheck {
 public:
  HeaderCheck(const std::string& file, int64_t data_bytes) : file_(file), data_bytes_(data_bytes) {}

  void check(std::vector<HeaderEntry>& entries) const {
    for (HeaderEntry& entry : entries) check_entry(entry);
    check_coverage(entries);
    std::sort(entries.begin(), entries.end(),
              [](const HeaderEntry& a, const HeaderEntry& b) { return a.info.name < b.info.name; });
    auto twice = std::adjacent_find(
        entries.begin(), entries.end(),
        [](const HeaderEntry& a, const HeaderEntry& b) { return a.info.name == b.info.name; });
    if (twice != entries.end()) {
      fail(fmt::format("the header has tensor {} twice", quote(twice->info.name)));
    }
  }

 private:
  void check_entry(HeaderEntry& entry) const {
    TensorInfo& info = entry.info;
    if (entry.begin > data_bytes_ || info.n_bytes > data_bytes_ - entry.begin) {
      fail(
          fmt::format("tensor {} lies at bytes {} to {} of the data, which has {} bytes; the file "
                      "is cut short or damaged",
                      quote(info.name), entry.begin, entry.begin + info.n_bytes, data_bytes_));
    }
    const FileDType* dtype = find_file_dtype(info.file_dtype);
    if (!dtype) return;  // reported when the tensor is asked for
    info.dtype = dtype->dtype;
    std::optional<int64_t> expected = checked_bytes(info.dims, dtype->bits);
    if (!expected) {
      fail(fmt::format(
          "tensor {} has {} [{}], whose size is not a whole number of bytes or overflows",
          quote(info.name), info.file_dtype, fmt::join(info.dims, ", ")));
    }
    if (*expected != info.n_bytes) {
      fail(fmt::format("tensor {} has {} bytes of data, but {} [{}] takes {}", quote(info.name),
                       info.n_bytes, info.file_dtype, fmt::join(info.dims, ", "), *expected));
    }
  }

  // In order of position, each tensor begins where the one before it ends.
  void check_coverage(std::vector<HeaderEntry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
      return std::tie(a.begin, a.info.n_bytes, a.info.name) <
             std::tie(b.begin, b.info.n_bytes, b.info.name);
    });
    int64_t end = 0;
    const HeaderEntry* previous = nullptr;
    for (const HeaderEntry& entry : entries) {
      if (entry.begin < end) {
        fail(fmt::format("tensors {} and {} overlap at byte {} of the data",
                         quote(previous->info.name), quote(entry.info.name), entry.begin));
      }
      if (entry.begin > end) fail_hole(end, entry.begin);
      end = entry.begin + entry.info.n_bytes;
      previous = &entry;
    }
    if (end != data_bytes_) fail_hole(end, data_bytes_);
  }

  [[noreturn]] void fail_hole(int64_t begin, int64_t end) const {
    fail(fmt::format("bytes {} to {} of the data belong to no tensor; the file is damaged", begin,
                     end));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(fmt::format("safetensors: {}: {}", quote(file_), message));
  }

  const std::string& file_;
  int64_t data_bytes_;
};

}  // namespace

Header parse_header(std::string_view text, int64_t data_bytes, const std::string& file) {
  if (text.empty() || text.front() != '{') {
    throw UserError(
        fmt::format("safetensors: {}: the header doesn't start with '{{'; the file is "
                    "damaged or isn't a safetensors file",
                    quote(file)));
  }
  HeaderReader reader(file);
  reader.read(text);
  Header header = reader.take();
  HeaderCheck(file, data_bytes).check(header.entries);
  return header;
}

std::string print_header(const std::vector<HeaderEntry>& entries, const Metadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    text += fmt::format("\"{}\":{}", kMetadataKey, Json(metadata).dump());
  }
  for (const HeaderEntry& entry : entries) {
    if (text.size() > 1) text += ',';
    text +=
        fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                    Json(entry.info.name).dump(), entry.info.file_dtype,
                    fmt::join(entry.info.dims, ","), entry.begin, entry.begin + entry.info.n_bytes);
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

ShardIndex parse_index(std::string_view text, const std::string& file) {
  IndexReader reader(file);
  reader.read(text);
  ShardIndex index = reader.take();
  std::sort(index.weight_map.begin(), index.weight_map.end());
  auto twice = std::adjacent_find(index.weight_map.begin(), index.weight_map.end(),
                                  [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != index.weight_map.end()) {
    throw UserError(fmt::format("safetensors: {}: the index has tensor {} twice", quote(file),
                                quote(twice->first)));
  }
  return index;
}

std::string print_index(const ShardIndex& index, int64_t total_bytes) {
  Json weight_map = Json::object();
  for (const auto& [name, file] : index.weight_map) weight_map[name] = file;
  Json json = {{"metadata", {{"total_size", total_bytes}}}, {"weight_map", std::move(weight_map)}};
  return json.dump(2) + "\n";
}

std::string_view file_dtype(DType dtype) {
  for (const FileDType& candidate : kFileDTypes) {
    if (candidate.dtype == dtype) return candidate.text;
  }
  return {};
}

}  // namespace luminal::io

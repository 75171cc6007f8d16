// GGUF: reading a file of typed metadata and named tensors, some of them quantised in blocks.
//
// Versions 2 and 3, little-endian. The file is mapped and everything but the elements is checked
// when it is opened: a hostile file gives a UserError that names the file and what is wrong with
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor_data.h"
#include "luminal/io/settings.h"
#include "luminal/io/tensor_info.h"
#include "luminal/io/weight_source.h"

namespace luminal {

// In the order of the file's numbers, which start at 0.
enum class GgufKind : uint8_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64,
};
LUMINAL_API std::string_view name(GgufKind kind);  // "u32", "string"

// A value of the metadata. What it holds lies in the file, so it lives as long as the Gguf it came
// from. What isn't of the kind asked for is none.
struct LUMINAL_API GgufValue {
  GgufKind kind = GgufKind::U8;
  GgufKind element = GgufKind::U8;   // of an array
  std::span<const std::byte> bytes;  // a number or bool, or all of an array, as the file has them
  std::vector<std::string_view> texts;  // a string, or all of an array; any bytes
  std::vector<GgufValue> arrays;        // of an array of arrays

  size_t size() const;  // of an array; 1 for anything else

  std::optional<int64_t> to_int() const;  // of an integer kind, and within i64
  std::optional<double> to_real() const;  // of a float or integer kind
  std::optional<bool> to_bool() const;
  std::optional<std::string_view> to_text() const;
  // Of arrays; an empty one is a list of anything.
  std::optional<std::vector<int64_t>> to_ints() const;
  std::optional<std::vector<double>> to_reals() const;
  std::optional<std::vector<std::string_view>> to_texts() const;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

// The weights and the settings of a file. A cheap handle: copies share the mapping, and so does the
// data it hands out.
class LUMINAL_API Gguf : public WeightSource, public Settings {
 public:
  static Gguf open(const std::string& path);
  // The same from bytes that `owner` keeps alive; `name` stands for the file in messages.
  static Gguf parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                    std::string name);

  // Both sorted by name.
  const std::vector<GgufEntry>& metadata() const;
  const std::vector<TensorInfo>& tensors() const override;
  // Null when there is none.
  const GgufValue* value(std::string_view key) const;

  std::optional<int64_t> find_int(std::string_view key) const override;
  std::optional<double> find_real(std::string_view key) const override;
  std::optional<bool> find_bool(std::string_view key) const override;
  std::optional<std::string> find_text(std::string_view key) const override;
  std::optional<std::vector<int64_t>> find_ints(std::string_view key) const override;
  std::optional<std::vector<double>> find_reals(std::string_view key) const override;
  std::optional<std::vector<std::string>> find_texts(std::string_view key) const override;

  // The elements of a tensor of a plain type, without a copy. UserError for an unknown name, and
  // for a type whose elements stand in blocks.
  TensorData data(std::string_view name) const override;
  // The planes of a tensor whose elements stand in blocks, made anew: see gguf_blocks.h.
  TensorData plane(std::string_view name, Plane plane) const override;
  // The bytes of any tensor, as the file has them, and what keeps them alive. UserError for an
  // unknown name.
  std::span<const std::byte> bytes(std::string_view name) const;
  const std::shared_ptr<const void>& owner() const;

  uint32_t version() const;
  int64_t alignment() const;
  // What was opened, as messages name it.
  const std::string& name() const override;

 private:
  struct Contents;
  explicit Gguf(std::shared_ptr<const Contents> contents);
  std::string lacks(std::string_view key) const override;
  const TensorInfo& tensor_at(std::string_view name) const;

  std::shared_ptr<const Contents> contents_;
};

// Whether a file begins as GGUF does; false where there is none.
LUMINAL_API bool is_gguf(const std::string& path);

}  // namespace luminal

// Values of a GGUF file's metadata as C++ values.
#include <cstring>
#include <limits>

#include "luminal/io/gguf.h"

namespace luminal {
namespace {

// Calls `function` with a value of the C++ type of a number's kind; false for other kinds.
template <typename Function>
bool with_number_type(GgufKind kind, Function function) {
  switch (kind) {
    case GgufKind::U8:
      function(uint8_t{});
      return true;
    case GgufKind::I8:
      function(int8_t{});
      return true;
    case GgufKind::U16:
      function(uint16_t{});
      return true;
    case GgufKind::I16:
      function(int16_t{});
      return true;
    case GgufKind::U32:
      function(uint32_t{});
      return true;
    case GgufKind::I32:
      function(int32_t{});
      return true;
    case GgufKind::F32:
      function(float{});
      return true;
    case GgufKind::U64:
      function(uint64_t{});
      return true;
    case GgufKind::I64:
      function(int64_t{});
      return true;
    case GgufKind::F64:
      function(double{});
      return true;
    case GgufKind::Bool:
    case GgufKind::String:
    case GgufKind::Array:
      return false;
  }
  return false;
}

// The numbers in `bytes`; none when one of them isn't a To: a float as an integer, or one past i64.
template <typename To>
std::optional<std::vector<To>> numbers(GgufKind kind, std::span<const std::byte> bytes) {
  std::vector<To> values;
  bool good = true;
  const bool is_number = with_number_type(kind, [&]<typename From>(From) {
    if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
      good = bytes.empty();
    } else {
      values.reserve(bytes.size() / sizeof(From));
      for (size_t at = 0; at < bytes.size(); at += sizeof(From)) {
        From value;
        std::memcpy(&value, bytes.data() + at, sizeof(From));
        if constexpr (std::is_same_v<From, uint64_t> && std::is_integral_v<To>) {
          good = good && value <= static_cast<uint64_t>(std::numeric_limits<To>::max());
        }
        values.push_back(static_cast<To>(value));
      }
    }
  });
  if (!good || !(is_number || bytes.empty())) return std::nullopt;
  return values;
}

template <typename To>
std::optional<To> number(const GgufValue& value) {
  if (value.kind == GgufKind::Array || value.bytes.empty()) return std::nullopt;
  const auto found = numbers<To>(value.kind, value.bytes);
  return found ? std::optional<To>(found->front()) : std::nullopt;
}

template <typename To>
std::optional<std::vector<To>> array(const GgufValue& value) {
  if (value.kind != GgufKind::Array || !value.texts.empty() || !value.arrays.empty()) {
    return std::nullopt;
  }
  return numbers<To>(value.element, value.bytes);
}

}  // namespace

std::string_view name(GgufKind kind) {
  switch (kind) {
    case GgufKind::U8:
      return "u8";
    case GgufKind::I8:
      return "i8";
    case GgufKind::U16:
      return "u16";
    case GgufKind::I16:
      return "i16";
    case GgufKind::U32:
      return "u32";
    case GgufKind::I32:
      return "i32";
    case GgufKind::F32:
      return "f32";
    case GgufKind::Bool:
      return "bool";
    case GgufKind::String:
      return "string";
    case GgufKind::Array:
      return "array";
    case GgufKind::U64:
      return "u64";
    case GgufKind::I64:
      return "i64";
    case GgufKind::F64:
      return "f64";
  }
  return {};
}

size_t GgufValue::size() const {
  if (kind != GgufKind::Array) return 1;
  if (!texts.empty()) return texts.size();
  if (!arrays.empty()) return arrays.size();
  size_t each = 1;
  with_number_type(element, [&]<typename Number>(Number) { each = sizeof(Number); });
  return bytes.size() / each;  // a bool is one byte
}

std::optional<int64_t> GgufValue::to_int() const { return number<int64_t>(*this); }
std::optional<double> GgufValue::to_real() const { return number<double>(*this); }

std::optional<bool> GgufValue::to_bool() const {
  if (kind != GgufKind::Bool || bytes.empty()) return std::nullopt;
  return bytes.front() != std::byte{0};
}

std::optional<std::string_view> GgufValue::to_text() const {
  if (kind != GgufKind::String || texts.empty()) return std::nullopt;
  return texts.front();
}

std::optional<std::vector<int64_t>> GgufValue::to_ints() const { return array<int64_t>(*this); }
std::optional<std::vector<double>> GgufValue::to_reals() const { return array<double>(*this); }

std::optional<std::vector<std::string_view>> GgufValue::to_texts() const {
  if (kind != GgufKind::Array || !bytes.empty() || !arrays.empty()) return std::nullopt;
  return texts;
}

}  // namespace luminal

// Protobuf: reads the fields of a message, with every length checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::tokens {

// A field of a message in the wire format. The reader interprets the number.
struct ProtobufField {
  enum class Kind : uint8_t { Number, Bytes, Fixed32, Fixed64 };

  uint32_t number = 0;
  Kind kind = Kind::Number;
  uint64_t value = 0;      // all kinds but Bytes
  std::string_view bytes;  // Bytes: a string or a nested message

  float real() const;  // Fixed32
};

// Iterates over the fields of a message; UserError, with the source and the byte, if it is invalid.
class ProtobufReader {
 public:
  ProtobufReader(std::string_view message, const std::string& source)
      : message_(message), source_(source) {}

  // Returns false at the end.
  bool next(ProtobufField& field);

 private:
  [[noreturn]] void fail(std::string_view what) const;
  uint64_t varint();
  std::string_view take(uint64_t length);

  std::string_view message_;
  const std::string& source_;
  size_t at_ = 0;
};

}  // namespace luminal::tokens

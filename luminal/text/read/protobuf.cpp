#include "luminal/text/read/protobuf.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "luminal/base/errors.h"

namespace luminal::tokens {

float ProtobufField::real() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }

void ProtobufReader::fail(std::string_view what) const {
  throw UserError(
      fmt::format("'{}' isn't a sentencepiece model: {} at byte {} of a message; is it "
                  "another kind of file, or cut short?",
                  source_, what, at_));
}

uint64_t ProtobufReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ >= message_.size()) fail("a number is cut short");
    const auto byte = static_cast<unsigned char>(message_[at_++]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail("a number is too long");
}

std::string_view ProtobufReader::take(uint64_t length) {
  if (length > message_.size() - at_) fail("a field reaches past the end");
  const std::string_view bytes = message_.substr(at_, length);
  at_ += length;
  return bytes;
}

bool ProtobufReader::next(ProtobufField& field) {
  if (at_ >= message_.size()) return false;
  const uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) fail("a field has an invalid number");
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.value = varint();
      return true;
    case 1:
      field.kind = ProtobufField::Kind::Fixed64;
      std::memcpy(&field.value, take(8).data(), 8);
      return true;
    case 2:
      field.kind = ProtobufField::Kind::Bytes;
      field.bytes = take(varint());
      return true;
    case 5: {
      field.kind = ProtobufField::Kind::Fixed32;
      uint32_t value = 0;
      std::memcpy(&value, take(4).data(), 4);
      field.value = value;
      return true;
    }
    default:
      fail("a field has an unknown type");
  }
}

}  // namespace luminal::tokens

// ByteWriter, ByteReader: values as bytes, for files that this library writes for itself. Input is
// untrusted: every length is checked against the bytes left; ByteError if it doesn't fit.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace luminal::base {

// Malformed bytes. Code that reads a file must catch it.
class ByteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ByteWriter {
 public:
  // Seven bits a byte, the lowest first; small numbers are short.
  void number(uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  // The sign in the lowest bit.
  void integer(int64_t value) {
    number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void flag(bool value) { bytes_ += static_cast<char>(value); }
  void word(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void real(double value) { word(std::bit_cast<uint64_t>(value)); }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw ByteError("a number has too many bytes");
  }
  // A number below `end`: an id, an enumerator.
  uint64_t below(uint64_t end) {
    const uint64_t value = number();
    if (value >= end) throw ByteError("a number is out of range");
    return value;
  }
  // How many things follow, each of a byte at least.
  size_t count() {
    const uint64_t value = number();
    if (value > rest_.size()) throw ByteError("a count is larger than the bytes that follow it");
    return static_cast<size_t>(value);
  }
  int64_t integer() {
    const uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // An integer that an `int` holds.
  int small() {
    const int64_t value = integer();
    if (value < INT32_MIN || value > INT32_MAX) throw ByteError("an integer is out of range");
    return static_cast<int>(value);
  }
  bool flag() {
    const uint8_t value = byte();
    if (value > 1) throw ByteError("a flag is neither 0 nor 1");
    return value == 1;
  }
  uint64_t word() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) value |= static_cast<uint64_t>(byte()) << shift;
    return value;
  }
  double real() { return std::bit_cast<double>(word()); }
  std::string_view text() {
    const size_t size = count();
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }
  void finish() const {
    if (!rest_.empty()) throw ByteError("there are bytes after the end");
  }

 private:
  uint8_t byte() {
    if (rest_.empty()) throw ByteError("the bytes end too early");
    const auto value = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
};

}  // namespace luminal::base

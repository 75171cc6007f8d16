#include "luminal/base/digest.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "luminal/base/hash.h"

namespace luminal::base {
namespace {

constexpr size_t kLanes = 4;

uint64_t word_at(std::string_view bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < sizeof(word) && at + i < bytes.size(); ++i) {
    word |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  }
  return word;
}

}  // namespace

// Every lane absorbs every word, from its own initial state, by a bijective update. The length is
// mixed in last, so that inputs that differ only in trailing zeros have different digests.
std::string digest(std::string_view bytes) {
  std::array<uint64_t, kLanes> lanes;
  for (size_t k = 0; k < kLanes; ++k) lanes[k] = mix(k + 1);
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = mix(word_at(bytes, at));
    for (uint64_t& lane : lanes) lane = mix(lane ^ word);
  }
  std::string text;
  for (uint64_t lane : lanes) {
    lane = combine(lane, bytes.size());
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[lane >> shift & 15];
  }
  return text;
}

}  // namespace luminal::base

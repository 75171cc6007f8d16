#include "luminal/base/files/seal.h"

#include <bit>
#include <cstring>

namespace luminal::base {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

uint64_t load_word(const void* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// The state of SipHash as in the reference implementation.
class SipState {
 public:
  explicit SipState(const Secret& key) {
    const uint64_t k0 = load_word(key.data()), k1 = load_word(key.data() + 8);
    v_[0] = k0 ^ 0x736f6d6570736575;
    v_[1] = k1 ^ 0x646f72616e646f6d ^ 0xee;  // 0xee: a tag of 128 bits
    v_[2] = k0 ^ 0x6c7967656e657261;
    v_[3] = k1 ^ 0x7465646279746573;
  }

  void take_in(uint64_t word) {
    v_[3] ^= word;
    rounds(2);
    v_[0] ^= word;
  }

  uint64_t finish(size_t lane, uint64_t mark) {
    v_[lane] ^= mark;
    rounds(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void rounds(int count) {
    for (; count > 0; --count) {
      v_[0] += v_[1];
      v_[1] = std::rotl(v_[1], 13) ^ v_[0];
      v_[0] = std::rotl(v_[0], 32);
      v_[2] += v_[3];
      v_[3] = std::rotl(v_[3], 16) ^ v_[2];
      v_[0] += v_[3];
      v_[3] = std::rotl(v_[3], 21) ^ v_[0];
      v_[2] += v_[1];
      v_[1] = std::rotl(v_[1], 17) ^ v_[2];
      v_[2] = std::rotl(v_[2], 32);
    }
  }

  std::array<uint64_t, 4> v_;
};

}  // namespace

std::string seal(const Secret& secret, std::string_view bytes) {
  SipState state(secret);
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) state.take_in(load_word(bytes.data() + at));
  char rest[8] = {};
  std::memcpy(rest, bytes.data() + at, bytes.size() - at);
  rest[7] = static_cast<char>(bytes.size());
  state.take_in(load_word(rest));
  std::string tag;
  for (const uint64_t word : {state.finish(2, 0xee), state.finish(1, 0xdd)}) {
    for (int shift = 0; shift < 64; shift += 8) {  // little-endian
      tag += "0123456789abcdef"[word >> (shift + 4) & 15];
      tag += "0123456789abcdef"[word >> shift & 15];
    }
  }
  return tag;
}

}  // namespace luminal::base

#include "luminal/io/gguf_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/io/file/quote.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

using io::quote;

constexpr size_t kMostElements = 256;  // of a block
using Quants = std::array<uint8_t, kMostElements>;

float f16_at(const uint8_t* bytes) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return static_cast<float>(f16_value(bits));
}

void put(float value, std::byte*& out) {
  std::memcpy(out, &value, sizeof(value));
  out += sizeof(value);
}

// Sixteen bytes of two quants each: the first half of a block in their low halves.
void nibbles(const uint8_t* packed, Quants& quants) {
  for (size_t i = 0; i < 16; ++i) {
    quants[i] = packed[i] & 0x0f;
    quants[i + 16] = packed[i] >> 4;
  }
}

// The fifth bits of 32 quants, the first in the lowest bit.
void add_fifth_bits(const uint8_t* packed, Quants& quants) {
  uint32_t high = 0;
  std::memcpy(&high, packed, sizeof(high));
  for (size_t i = 0; i < 32; ++i) quants[i] |= static_cast<uint8_t>((high >> i & 1) << 4);
}

void quants_q4_0(const uint8_t* block, Quants& quants) { nibbles(block + 2, quants); }
void quants_q4_1(const uint8_t* block, Quants& quants) { nibbles(block + 4, quants); }
void quants_q5_0(const uint8_t* block, Quants& quants) {
  nibbles(block + 6, quants);
  add_fifth_bits(block + 2, quants);
}
void quants_q5_1(const uint8_t* block, Quants& quants) {
  nibbles(block + 8, quants);
  add_fifth_bits(block + 4, quants);
}
void quants_q8_0(const uint8_t* block, Quants& quants) {
  std::copy_n(block + 2, 32, quants.begin());
}

// Four times 32 bytes that hold two sub-blocks each, the first in their low halves.
void sub_block_nibbles(const uint8_t* packed, Quants& quants) {
  for (size_t pair = 0; pair < 4; ++pair) {
    for (size_t i = 0; i < 32; ++i) {
      const uint8_t both = packed[pair * 32 + i];
      quants[pair * 64 + i] = both & 0x0f;
      quants[pair * 64 + 32 + i] = both >> 4;
    }
  }
}

void quants_q4_k(const uint8_t* block, Quants& quants) { sub_block_nibbles(block + 16, quants); }

void quants_q5_k(const uint8_t* block, Quants& quants) {
  const uint8_t* high = block + 16;  // bit s of byte i is the fifth bit of element i of sub-block s
  sub_block_nibbles(block + 48, quants);
  for (size_t i = 0; i < kMostElements; ++i) {
    quants[i] |= static_cast<uint8_t>((high[i % 32] >> (i / 32) & 1) << 4);
  }
}

// Two halves of 128 elements, each from 64 bytes of low bits and 32 bytes of high bits.
void quants_q6_k(const uint8_t* block, Quants& quants) {
  for (size_t half = 0; half < 2; ++half) {
    const uint8_t* low = block + half * 64;
    const uint8_t* high = block + 128 + half * 32;
    for (size_t i = 0; i < 128; ++i) {
      const size_t group = i / 32;  // elements 0 … 31, 32 … 63 and so on
      const uint8_t both = low[i % 64];
      const auto four = static_cast<uint8_t>(group < 2 ? both & 0x0f : both >> 4);
      const auto two = static_cast<uint8_t>(high[i % 32] >> (2 * group) & 3);
      // Signed, so that it needs no zero of its own.
      quants[half * 128 + i] = static_cast<uint8_t>((four | two << 4) - 32);
    }
  }
}

// An f16 at a fixed place of the block, as it is.
template <size_t place>
void f16_from(const uint8_t* block, std::byte*& out) {
  std::memcpy(out, block + place, 2);
  out += 2;
}

// Twelve bytes hold eight scales and eight minima of six bits: the first four of each in bytes of
// their own, whose upper two bits belong to the others.
int six_bits(const uint8_t* packed, size_t index, bool minimum) {
  const size_t first = minimum ? 4 : 0;
  if (index < 4) return packed[first + index] & 63;
  const int low = minimum ? packed[index + 4] >> 4 : packed[index + 4] & 0x0f;
  return low | packed[first + index - 4] >> 6 << 4;
}

void scales_k(const uint8_t* block, std::byte*& out) {
  const float scale = f16_at(block);
  for (size_t i = 0; i < 8; ++i) {
    put(scale * static_cast<float>(six_bits(block + 4, i, false)), out);
  }
}

void offsets_k(const uint8_t* block, std::byte*& out) {
  const float minimum = f16_at(block + 2);
  for (size_t i = 0; i < 8; ++i) {
    put(-(minimum * static_cast<float>(six_bits(block + 4, i, true))), out);
  }
}

void scales_q6_k(const uint8_t* block, std::byte*& out) {
  const float scale = f16_at(block + 208);
  for (size_t i = 0; i < 16; ++i) {
    put(scale * static_cast<float>(static_cast<int8_t>(block[192 + i])), out);
  }
}

// How the blocks of a type are read.
struct BlockCode {
  std::string_view type;
  BlockFormat format;
  size_t elements;
  size_t bytes;
  void (*quants)(const uint8_t* block, Quants& quants);
  void (*scales)(const uint8_t* block, std::byte*& out);
  void (*offsets)(const uint8_t* block, std::byte*& out);  // null where there are none
};

constexpr DType kU4 = DType::U4, kI8 = DType::I8, kF16 = DType::F16, kF32 = DType::F32;
constexpr BlockCode kCodes[] = {
    {"Q4_0", {kU4, 32, 8, kF16, false}, 32, 18, quants_q4_0, f16_from<0>, nullptr},
    {"Q4_1", {kU4, 32, 0, kF16, true}, 32, 20, quants_q4_1, f16_from<0>, f16_from<2>},
    {"Q5_0", {kI8, 32, 16, kF16, false}, 32, 22, quants_q5_0, f16_from<0>, nullptr},
    {"Q5_1", {kI8, 32, 0, kF16, true}, 32, 24, quants_q5_1, f16_from<0>, f16_from<2>},
    {"Q8_0", {kI8, 32, 0, kF16, false}, 32, 34, quants_q8_0, f16_from<0>, nullptr},
    {"Q4_K", {kU4, 32, 0, kF32, true}, 256, 144, quants_q4_k, scales_k, offsets_k},
    {"Q5_K", {kI8, 32, 0, kF32, true}, 256, 176, quants_q5_k, scales_k, offsets_k},
    {"Q6_K", {kI8, 16, 0, kF32, false}, 256, 210, quants_q6_k, scales_q6_k, nullptr},
};

const BlockCode* find_code(std::string_view type) {
  const auto* found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                   [&](const BlockCode& code) { return code.type == type; });
  return found == std::end(kCodes) ? nullptr : found;
}

struct Blocks {
  const TensorInfo& info;
  const BlockCode& code;
  const uint8_t* data;
  size_t count;
};

Blocks blocks_of(const Gguf& file, std::string_view tensor) {
  const std::span<const std::byte> bytes = file.bytes(tensor);
  const TensorInfo& info = *file.find(tensor);
  const BlockCode* code = find_code(info.file_dtype);
  if (!code) {
    throw UserError(fmt::format("gguf: {}: tensor {} is {}, which {}; convert it with another tool",
                                quote(file.name()), quote(tensor), info.file_dtype,
                                info.dtype ? "has no planes" : "isn't supported"));
  }
  LUMINAL_CHECK(bytes.size() % code->bytes == 0, "a block's size is that of its type");
  return {.info = info,
          .code = *code,
          .data = reinterpret_cast<const uint8_t*>(bytes.data()),
          .count = bytes.size() / code->bytes};
}

TensorData read_quants(const Blocks& blocks) {
  const BlockCode& code = blocks.code;
  TensorData::Writable plane = TensorData::zeros(code.format.quants, blocks.info.dims);
  auto* out = reinterpret_cast<uint8_t*>(plane.bytes.data());
  Quants quants;
  for (size_t i = 0; i < blocks.count; ++i) {
    code.quants(blocks.data + i * code.bytes, quants);
    if (code.format.quants == DType::I8) {
      out = std::copy_n(quants.begin(), code.elements, out);
      continue;
    }
    // Between arrays that can't overlap, which a compiler turns into vectors.
    std::array<uint8_t, kMostElements / 2> packed;
    for (size_t k = 0; k < code.elements / 2; ++k) {
      packed[k] = static_cast<uint8_t>(quants[2 * k] | quants[2 * k + 1] << 4);
    }
    out = std::copy_n(packed.begin(), code.elements / 2, out);
  }
  return plane.data;
}

TensorData read_per_block(const Blocks& blocks, void (*read)(const uint8_t*, std::byte*&)) {
  std::vector<int64_t> dims = blocks.info.dims;
  dims.back() /= blocks.code.format.block;
  TensorData::Writable plane = TensorData::zeros(blocks.code.format.scales, std::move(dims));
  std::byte* out = plane.bytes.data();
  for (size_t i = 0; i < blocks.count; ++i) read(blocks.data + i * blocks.code.bytes, out);
  return plane.data;
}

}  // namespace

std::optional<BlockFormat> block_format(std::string_view file_dtype) {
  const BlockCode* code = find_code(file_dtype);
  return code ? std::optional(code->format) : std::nullopt;
}

TensorData read_plane(const Gguf& file, std::string_view tensor, Plane plane) {
  const Blocks blocks = blocks_of(file, tensor);
  if (plane == Plane::Offsets && !blocks.code.offsets) {
    throw UserError(fmt::format("gguf: {}: tensor {} is {}, which has no offsets",
                                quote(file.name()), quote(tensor), blocks.code.type));
  }
  TensorData data = plane == Plane::Quants   ? read_quants(blocks)
                    : plane == Plane::Scales ? read_per_block(blocks, blocks.code.scales)
                                             : read_per_block(blocks, blocks.code.offsets);
  // Planes stand for these bytes from here on; both in memory would be a second model's worth. The
  // last one tells: those before it would only have to be read again.
  const Plane last = blocks.code.offsets ? Plane::Offsets : Plane::Scales;
  if (plane == last) base::drop_mapped_pages(file.bytes(tensor));
  return data;
}

}  // namespace luminal

// What micro kernels multiply, and how large their tiles are; see micro_kernel.h.
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// What is multiplied, and how. Products of bf16 are exact, their sums are f32 and flush subnormals
// to zero; the order of a sum is the kernel's own. Sums of i8 are i32 and wrap.
enum class Multiply : uint8_t {
  F32,        // multiply-add on vectors of any target
  Bf16Dot,    // AVX-512 BF16
  Bf16Tiles,  // AMX
  I8Dot,      // AVX-512 VNNI
  I8Tiles,    // AMX
};

// Whether it is AMX that multiplies.
constexpr bool on_tiles(Multiply multiply) {
  return multiply == Multiply::Bf16Tiles || multiply == Multiply::I8Tiles;
}

// Bytes of one element of either operand.
constexpr int element_bytes(Multiply multiply) {
  switch (multiply) {
    case Multiply::F32:
      return 4;
    case Multiply::Bf16Dot:
    case Multiply::Bf16Tiles:
      return 2;
    case Multiply::I8Dot:
    case Multiply::I8Tiles:
      return 1;
  }
  return 0;
}
// How many elements along k one lane of a panel holds next to each other: 4 bytes of them.
constexpr int elements_per_lane(Multiply multiply) { return 4 / element_bytes(multiply); }

// The largest tile that a kernel computes at once: rows × panels · lanes results.
struct MicroShape {
  int rows = 1;
  int panels = 1;

  bool operator==(const MicroShape&) const = default;
};

// The best that the target has for products of this dtype: F32 for all but bf16, which is widened
// by whoever packs it where the target can't multiply it. All that multiply bf16 read the same
// panels, so that one packed operand serves few rows and many.
Multiply best_multiply(const Target& target, DType element, int64_t most_rows = INT64_MAX);
// The same for i8 with sums in i32; nothing where the target has no such products.
std::optional<Multiply> best_integer_multiply(const Target& target, int64_t most_rows = INT64_MAX);

// The panels that all of them read.
kernel::Packing packing_for(const Target& target);
// Whether bytes of a quantised factor are multiplied by dot products, four along k at once.
bool multiplies_bytes(const Target& target);

// The shape that suits a product of at most `most_rows` rows; INT64_MAX where that isn't known.
MicroShape micro_shape(const Target& target, Multiply multiply, int64_t most_rows);
// And one of up to eight rows by integers that are converted on the way.
MicroShape streamed_shape(const Target& target, int64_t most_rows);

}  // namespace luminal::backends::cpu

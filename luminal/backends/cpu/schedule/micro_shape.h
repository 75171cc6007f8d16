// The instructions that micro kernels multiply with, and the sizes of their tiles; see
// micro_kernel.h.
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// Operand types and instructions. Products of bf16 are exact; their f32 sums flush subnormals to
// zero and are added in an order that depends on the kernel. Sums of i8 are i32 and wrap.
enum class Multiply : uint8_t {
  F32,        // multiply-add on vectors of any target
  Bf16Dot,    // AVX-512 BF16
  Bf16Tiles,  // AMX
  I8Dot,      // AVX-512 VNNI
  I8Tiles,    // AMX
};

// Whether it uses AMX tiles.
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
// Consecutive elements along k that one 4-byte lane of a panel holds.
constexpr int elements_per_lane(Multiply multiply) { return 4 / element_bytes(multiply); }

// How far ahead a GEMV prefetches its panels. Two threads reading 1 GiB of bf16 once, one row:
// 42 GB/s without; 44, 45, 45 and 43 with 0.5, 1, 2 and 4 KiB. Eight rows: 35 without; 40, 41, 41
// and 37 with 1, 2, 4 and 8 KiB.
constexpr int64_t kPanelBytesAhead = 2048;

// The largest tile that a kernel computes at once: rows × panels · lanes results.
struct MicroShape {
  int rows = 1;
  int panels = 1;

  bool operator==(const MicroShape&) const = default;
};

// The best choice of the target for products of this dtype: F32 for all but bf16. If the target
// can't multiply bf16, packing widens it to f32. All bf16 variants read the same panel layout, so
// that one packed operand serves both GEMV and GEMM.
Multiply best_multiply(const Target& target, DType element, int64_t most_rows = INT64_MAX);
// The same for i8 with sums in i32; none if the target has no such instructions.
std::optional<Multiply> best_integer_multiply(const Target& target, int64_t most_rows = INT64_MAX);

// The panel layout that all of them read.
kernel::Packing packing_for(const Target& target);
// Whether bytes of a quantised factor are multiplied by dot products of four along k (VNNI).
bool multiplies_bytes(const Target& target);

// The tile shape for a product of at most `most_rows` rows; INT64_MAX if unknown.
MicroShape micro_shape(const Target& target, Multiply multiply, int64_t most_rows);
// The tile of `rows` rows with as many panels as registers hold; not for AMX.
MicroShape micro_shape_of(const Target& target, Multiply multiply, int rows);
// The same for the quantised GEMV: up to eight rows by integers that are converted on load.
MicroShape streamed_shape(const Target& target, int64_t most_rows);

}  // namespace luminal::backends::cpu

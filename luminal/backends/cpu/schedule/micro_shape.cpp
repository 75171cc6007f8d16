#include "luminal/backends/cpu/schedule/micro_shape.h"

#include <algorithm>

namespace luminal::backends::cpu {

Multiply best_multiply(const Target& target, DType element, int64_t most_rows) {
  if (element != DType::BF16) return Multiply::F32;
  // With one or two rows (GEMV), dot products over eight panels read memory faster than AMX tiles;
  // from three rows on they are compute-bound.
  if (target.avx512_bf16 && (!target.amx_bf16 || most_rows <= 2)) return Multiply::Bf16Dot;
  return target.amx_bf16 ? Multiply::Bf16Tiles : Multiply::F32;
}

std::optional<Multiply> best_integer_multiply(const Target& target, int64_t most_rows) {
  if (target.avx512_vnni && (!target.amx_int8 || most_rows <= 2)) return Multiply::I8Dot;
  return target.amx_int8 ? std::optional(Multiply::I8Tiles) : std::nullopt;
}

bool multiplies_bytes(const Target& target) {
  return target.avx512_vnni && target.vector_bytes == 64;
}

kernel::Packing packing_for(const Target& target) {
  return {.lanes = target.vector_bytes / 4,
          .bf16_depth = elements_per_lane(best_multiply(target, DType::BF16)),
          .byte_depth = multiplies_bytes(target) ? kernel::kBytesPerWord : 1};
}

MicroShape micro_shape(const Target& target, Multiply multiply, int64_t most_rows) {
  if (on_tiles(multiply)) {
    if (most_rows > 16) return {.rows = 32, .panels = 2};
    return {.rows = static_cast<int>(std::max<int64_t>(most_rows, 1)), .panels = 6};
  }
  const int registers = target.avx512 || !target.x86 ? 32 : 16;
  // Splits the rows evenly, so that the last tile isn't much smaller than the others. More than
  // eight rows at a power-of-two stride would evict one another from the L1 cache.
  const bool corrects = multiply == Multiply::I8Dot;
  const int64_t limit = registers == 16 ? 6 : corrects ? 12 : 8;
  const int64_t n = std::max<int64_t>(1, most_rows / limit + (most_rows % limit != 0 ? 1 : 0));
  const int rows = static_cast<int>(std::max<int64_t>(1, most_rows / n + (most_rows % n != 0)));
  return micro_shape_of(target, multiply, rows);
}

MicroShape micro_shape_of(const Target& target, Multiply multiply, int rows) {
  const int registers = target.avx512 || !target.x86 ? 32 : 16;
  const bool corrects = multiply == Multiply::I8Dot;
  // Registers: one per sum, one per panel, and one for an element of the left operand; i8 also has
  // a correction sum per panel, a constant, and the element with its sign bit flipped.
  const int panels = corrects ? (registers - 3) / (rows + 2) : (registers - 1) / (rows + 1);
  return {.rows = rows, .panels = std::clamp(panels, 2, 8)};
}

MicroShape streamed_shape(const Target& target, int64_t most_rows) {
  const int registers = target.avx512 || !target.x86 ? 32 : 16;
  // Half of the registers hold sums; more than eight panels at once would be too many streams for
  // the hardware prefetcher.
  int rows = 1;
  while (rows < most_rows) rows *= 2;
  return {.rows = static_cast<int>(most_rows), .panels = std::clamp(registers / 2 / rows, 1, 8)};
}

}  // namespace luminal::backends::cpu

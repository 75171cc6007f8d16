// Unrounded: floating-point contraction: which intermediate results are used without rounding.
//
// Decided on the kernel's instructions, so it depends on neither the target nor the position in a
// vector: a + x·y becomes a fused multiply-add if the product has no other use and the other
// operand isn't a product itself. So x·x − y·y stays 0 for x = y, and idioms that need a rounded
// product, which all use it twice, still get it.
//
// f16 and bf16 are computed in f32: a result whose only use is a sum or product of the same dtype
// isn't rounded. Both operands of a sum may be unrounded: products of two such numbers are exact in
// f32.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// ±a · b
struct Product {
  kernel::InstId a, b;
  bool negative = false;
};

// For an Add of f32: product + rest.
struct FusedAdd {
  Product product;
  kernel::InstId rest;
};

struct Unrounded {
  std::vector<std::optional<FusedAdd>> adds;  // one per instruction of the body
  // If the body's result is a product that is summed: its factors, for a fused multiply-add.
  std::optional<Product> reduced;
  // One per instruction: an f16 or bf16 that stays in f32, or whose rounding would be exact.
  std::vector<bool> unrounded;
};

Unrounded unrounded_values(const kernel::Stage& stage);

}  // namespace luminal::backends::cpu

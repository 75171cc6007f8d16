// Unrounded: which values are taken in without rounding them first.
//
// Decided on the kernel's instructions, so it depends on neither the target nor the place in a
// vector: a + x·y becomes one fused multiply-add where the product is used nowhere else and the
// other side is no product itself. So x·x − y·y stays 0 where x = y, and idioms that need a rounded
// product, which all use it twice, still get it.
//
// f16 and bf16 are held as f32: what a single sum or product of the same dtype uses goes in as it
// was computed there. Both sides of a sum may: products of two such numbers are exact in f32.
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
  // What a sum over the body's result takes in, where that is a product.
  std::optional<Product> reduced;
  // One per instruction: an f16 or bf16 that stays in f32, or that is exact anyway.
  std::vector<bool> unrounded;
};

Unrounded unrounded_values(const kernel::Stage& stage);

}  // namespace luminal::backends::cpu

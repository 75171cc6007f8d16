// Bounds of expressions: saturating interval arithmetic, INT64_MIN and INT64_MAX meaning unbounded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "luminal/shape/expr/expr_interner.h"

namespace luminal::shape {

struct Bounds {
  int64_t lower = INT64_MIN;
  int64_t upper = INT64_MAX;
};

// The bounds of a node with this key over all points where it has a value. Never empty.
Bounds bounds_of(const NodeKey& key);

// The bounds of an expression that has operands (no Const, Var or Index), from those that
// `operand` gives for each of them.
Bounds bounds_over(Expr e, const std::function<Bounds(Expr)>& operand);

// A lower bound of constant + Σ coefficient · operand that accounts for factors shared between
// operands: s·t − t ≥ 0 where s ≥ 1 and t ≥ 0. None if no bound follows.
std::optional<int64_t> joint_lower_bound(int64_t constant, std::span<const Expr> operands,
                                         std::span<const int64_t> coefficients);

}  // namespace luminal::shape

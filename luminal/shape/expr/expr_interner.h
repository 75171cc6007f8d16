// The interner of Expr: nodes in an arena that never moves, so reading one needs no lock.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

// Lets the module's own files make an Expr from an id.
struct ExprAccess {
  static Expr make(uint32_t id) { return Expr(id, 0); }
};

}  // namespace luminal

namespace luminal::shape {

// Identifies a node. `opaque` marks one that was left unsimplified because its canonical form would
// overflow or grow too large; its operands are not expanded either.
struct NodeKey {
  ExprKind kind = ExprKind::Const;
  bool opaque = false;
  int axis = -1;
  int64_t constant = 0;
  int64_t lower = 0, upper = 0;  // of a Var
  std::string_view name = {};
  std::span<const Expr> operands = {};
  std::span<const int64_t> coefficients = {};
};

struct Node {
  uint64_t hash = 0;
  int64_t constant = 0;
  int64_t lower = 0, upper = 0;
  const Expr* operands = nullptr;
  const int64_t* coefficients = nullptr;
  const char* name = nullptr;
  uint64_t index_mask = 0;  // bit k: Index k occurs; the last bit stands for all further axes
  uint32_t n_operands = 0;
  uint32_t name_size = 0;
  uint32_t tree_size = 1;  // nodes of the expression written out, saturating
  int32_t axis = -1;
  ExprKind kind = ExprKind::Const;
  bool opaque = false;
  bool has_variables = false;
  bool has_floor_div = false, has_mod = false;  // itself, or as a factor of a Product

  std::span<const Expr> operand_span() const { return {operands, n_operands}; }
  std::span<const int64_t> coefficient_span() const {
    return {coefficients, coefficients ? n_operands : 0};
  }
  std::string_view name_view() const { return {name, name_size}; }
};

inline constexpr int kIndexMaskBits = 64;
inline uint64_t index_bit(int axis) {
  return uint64_t{1} << (axis < kIndexMaskBits - 1 ? axis : kIndexMaskBits - 1);
}

const Node& node(Expr e);

// Expr::hash() of a node with this key.
uint64_t hash_key(const NodeKey& key);

// The node for `key`, which the caller has brought into canonical form. If its bounds leave only
// one value, the node is that constant.
Expr intern(const NodeKey& key);

// Shorthands for the common keys.
Expr intern_operands(ExprKind kind, std::span<const Expr> operands, bool opaque = false);
Expr intern_binary(ExprKind kind, Expr a, Expr b, bool opaque = false);

}  // namespace luminal::shape

#include "luminal/backends/cpu/schedule/lane_pattern.h"

#include <algorithm>
#include <numeric>

namespace luminal::backends::cpu {
namespace {

LanePattern general() { return {.kind = LaneKind::General, .stride = 0, .across_chunks = false}; }
// Uniform within a chunk, but different in the next one.
LanePattern uniform_in_chunk() {
  return {.kind = LaneKind::Uniform, .stride = 0, .across_chunks = false};
}

LanePattern pattern_of_sum(Expr e, kernel::LoopId loop, int lanes) {
  LanePattern sum;
  for (size_t k = 0; k < e.operands().size(); ++k) {
    LanePattern term = lane_pattern(e.operands()[k], loop, lanes);
    if (term.kind == LaneKind::General) return general();
    sum.across_chunks &= term.across_chunks;
    if (term.kind == LaneKind::Uniform) continue;
    sum.stride = sum.stride + term.stride * Expr(e.coefficients()[k]);
  }
  if (!sum.stride.is(0)) sum.kind = LaneKind::Affine;
  return sum;
}

LanePattern pattern_of_product(Expr e, kernel::LoopId loop, int lanes) {
  LanePattern product;
  Expr fixed = 1;           // product of the factors that are invariant in the vector loop
  bool all_uniform = true;  // in each chunk
  bool changes = false;     // some uniform factor changes from chunk to chunk
  for (Expr factor : e.operands()) {
    if (!uses_loop(factor, loop)) {
      fixed = fixed * factor;
      continue;
    }
    LanePattern pattern = lane_pattern(factor, loop, lanes);
    if (pattern.kind == LaneKind::Uniform) {
      changes = true;
      continue;
    }
    if (!all_uniform || pattern.kind == LaneKind::General) return general();
    all_uniform = false;
    product = pattern;
  }
  if (all_uniform) return uniform_in_chunk();
  if (changes) return general();
  product.stride = product.stride * fixed;
  return product;
}

// For a div c and a mod c with a constant c: if a chunk never crosses a multiple of c, the quotient
// is uniform and the remainder has the stride of a.
bool stays_between_multiples(Expr a, Expr c, const LanePattern& pattern, kernel::LoopId loop,
                             int lanes) {
  std::optional<int64_t> divisor = c.to_int();
  std::optional<int64_t> stride = pattern.stride.to_int();
  if (!divisor || *divisor <= 0 || !stride || *stride <= 0) return false;
  const int64_t span = *stride * lanes;
  return *divisor % span == 0 && known_multiple(a, span, loop, lanes);
}

LanePattern pattern_of_division(Expr e, kernel::LoopId loop, int lanes) {
  Expr a = e.operands()[0], c = e.operands()[1];
  if (uses_loop(c, loop)) return general();
  LanePattern pattern = lane_pattern(a, loop, lanes);
  if (pattern.kind == LaneKind::General) return general();
  if (pattern.kind == LaneKind::Uniform) return uniform_in_chunk();
  if (!stays_between_multiples(a, c, pattern, loop, lanes)) return general();
  if (e.kind() == ExprKind::FloorDiv) return uniform_in_chunk();
  return {.kind = LaneKind::Affine, .stride = pattern.stride, .across_chunks = false};
}

}  // namespace

LanePattern lane_pattern(Expr e, kernel::LoopId vector_loop, int lanes) {
  if (!uses_loop(e, vector_loop)) return {};
  switch (e.kind()) {
    case ExprKind::Index:
      return {.kind = LaneKind::Affine, .stride = 1, .across_chunks = true};
    case ExprKind::Sum:
      return pattern_of_sum(e, vector_loop, lanes);
    case ExprKind::Product:
      return pattern_of_product(e, vector_loop, lanes);
    case ExprKind::FloorDiv:
    case ExprKind::Mod:
      return pattern_of_division(e, vector_loop, lanes);
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::CeilDiv:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      break;
  }
  for (Expr operand : e.operands()) {
    if (lane_pattern(operand, vector_loop, lanes).kind != LaneKind::Uniform) return general();
  }
  return uniform_in_chunk();
}

std::optional<Expr> step_along(Expr address, kernel::LoopId loop) {
  const LanePattern pattern = lane_pattern(address, loop, 1);
  if (pattern.kind == LaneKind::General || !pattern.across_chunks) return std::nullopt;
  return pattern.stride;
}

bool known_multiple(Expr e, int64_t divisor, kernel::LoopId vector_loop, int lanes) {
  if (divisor == 1) return true;
  auto recurse = [&](Expr x, int64_t d) { return known_multiple(x, d, vector_loop, lanes); };
  switch (e.kind()) {
    case ExprKind::Const:
      return e.constant_term() % divisor == 0;
    case ExprKind::Index:
      return kernel::loop_of(e) == vector_loop && lanes % divisor == 0;
    case ExprKind::Sum:
      if (e.constant_term() % divisor != 0) return false;
      for (size_t k = 0; k < e.operands().size(); ++k) {
        const int64_t coefficient = e.coefficients()[k];
        // The operand must supply the factors of the divisor that the coefficient lacks.
        const int64_t rest = divisor / std::gcd(coefficient, divisor);
        if (!recurse(e.operands()[k], rest)) return false;
      }
      return true;
    case ExprKind::Product:
      return std::ranges::any_of(e.operands(), [&](Expr x) { return recurse(x, divisor); });
    case ExprKind::Mod:
      return recurse(e.operands()[0], divisor) && recurse(e.operands()[1], divisor);
    case ExprKind::Min:
    case ExprKind::Max:
      return std::ranges::all_of(e.operands(), [&](Expr x) { return recurse(x, divisor); });
    case ExprKind::Var:
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      return false;
  }
  return false;
}

}  // namespace luminal::backends::cpu

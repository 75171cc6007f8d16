#include "luminal/pytorch/size_arithmetic.h"

namespace luminal::pytorch {

Expr remainder(Expr a, Expr b) {
  const Expr simplified = a % b;
  if (simplified.kind() != ExprKind::Mod) return simplified;
  const Expr x = simplified.operands()[0], modulus = simplified.operands()[1];
  if (!modulus.to_int() || x.upper_bound() > 0) return simplified;
  return x - x / modulus * modulus;
}

}  // namespace luminal::pytorch

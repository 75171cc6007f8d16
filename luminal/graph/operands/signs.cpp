#include "luminal/graph/operands/signs.h"

#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/primitives.h"

namespace luminal::composite {

Tensor sign_bit(const Tensor& x) {
  const DType bits_of = x.dtype() == DType::F64   ? DType::I64
                        : x.dtype() == DType::F32 ? DType::I32
                                                  : DType::I16;
  const Tensor raw = is_float(x.dtype()) ? prim::bitcast(x, bits_of) : x;
  return prim::less_than(raw, constant_like(raw, 0));
}

Tensor with_sign_of(const Tensor& size, const Tensor& x) {
  return prim::select(sign_bit(x), prim::mul(size, constant_like(size, -1)), size);
}

// In f64 the quotient of two floats of fewer bits is never so near to the middle of two of them
// that an ulp of f64 decides. Of two f64 the remainder decides between the neighbours.
Tensor exact_quotient(const Tensor& a, const Tensor& b) {
  const Tensor wide = prim::mul(prim::cast(a, DType::F64), prim::recip(prim::cast(b, DType::F64)));
  return prim::cast(wide, a.dtype());
}

}  // namespace luminal::composite

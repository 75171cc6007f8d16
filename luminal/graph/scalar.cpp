#include "luminal/graph/scalar.h"

namespace luminal {

DType promote(DType dtype, const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::Float:
      return is_float(dtype) ? dtype : DType::F32;
    case Scalar::Kind::Int:
    case Scalar::Kind::Symbolic:
      return dtype == DType::Bool ? DType::I64 : dtype;
    case Scalar::Kind::Bool:
      return dtype;
  }
  return dtype;
}

}  // namespace luminal

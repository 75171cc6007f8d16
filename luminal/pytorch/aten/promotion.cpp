#include "luminal/pytorch/aten/promotion.h"

namespace luminal::pytorch {
namespace {

int height(DType dtype) { return is_float(dtype) ? 2 : dtype == DType::Bool ? 0 : 1; }

}  // namespace

std::pair<Tensor, Tensor> promoted(Tensor a, Tensor b) {
  if (a.rank() == 0 && b.rank() > 0 && height(a.dtype()) <= height(b.dtype())) {
    a = a.cast(b.dtype());
  } else if (b.rank() == 0 && a.rank() > 0 && height(b.dtype()) <= height(a.dtype())) {
    b = b.cast(a.dtype());
  }
  return {a, b};
}

}  // namespace luminal::pytorch

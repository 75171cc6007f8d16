// DTypeTraits: what dtypes.def says of a dtype, at compile time.
#pragma once

#include "luminal/shape/dtype.h"
#include "luminal/shape/float_format.h"

namespace luminal {

template <DType dtype>
struct DTypeTraits;

#define DTYPE(name, text, n_bits, of_kind, exponent_bits, storage)            \
  template <>                                                                 \
  struct DTypeTraits<DType::name> {                                           \
    using Storage = storage; /* of one element in memory */                   \
    static constexpr DTypeKind kind = DTypeKind::of_kind;                     \
    static constexpr FloatFormat format = ieee_format(n_bits, exponent_bits); \
  };
#include "luminal/shape/dtypes.def"
#undef DTYPE

// function(DTypeTraits<dtype>{}), for a dtype that is known at run time.
template <typename Function>
auto with_traits(DType dtype, const Function& function) {
  switch (dtype) {
#define DTYPE(name, ...) \
  case DType::name:      \
    return function(DTypeTraits<DType::name>{});
#include "luminal/shape/dtypes.def"
#undef DTYPE
  }
  __builtin_unreachable();
}

}  // namespace luminal

#include "luminal/shape/float_format.h"

#include "luminal/base/check.h"
#include "luminal/shape/dtype_traits.h"

namespace luminal {

FloatFormat float_format(DType dtype) {
  LUMINAL_CHECK(is_float(dtype), std::string(name(dtype)) + " is not a float type");
  return with_traits(dtype, [](auto traits) { return traits.format; });
}

}  // namespace luminal

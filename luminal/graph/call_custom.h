// call_custom: runs a user's function of a custom op, so that what it throws names the op.
#pragma once

#include <string_view>

#include "luminal/graph/custom_op.h"

namespace luminal {

// Throws CustomOpError with the current exception nested in it; `function` is the field of
// CustomOp.
[[noreturn]] void rethrow_from_custom(const CustomOp& op, std::string_view function);

template <typename Call>
auto call_custom(const CustomOp& op, std::string_view function, const Call& call) {
  try {
    return call();
  } catch (...) {
    rethrow_from_custom(op, function);
  }
}

}  // namespace luminal

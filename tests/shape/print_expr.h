// How GoogleTest shows expressions in its messages.
#pragma once

#include <ostream>

#include "luminal/shape/expr.h"

namespace luminal {

inline void PrintTo(const Expr& e, std::ostream* out) { *out << e.text() << "  " << e.term(); }

}  // namespace luminal

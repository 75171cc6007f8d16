// Where a library that a backend may have (oneDNN on the cpu) computes kernels in place of its own
// code.
#pragma once

#include <cstdint>

namespace luminal {

// docs/decisions/0012-onednn.md says which kernels.
enum class LibraryPolicy : uint8_t {
  Never,     // every compile gives the same plan
  Measured,  // where it was faster: both are tried when compiling, at the typical sizes
  Always,    // wherever it can; UserError where there is none
};

}  // namespace luminal

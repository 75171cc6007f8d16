// For builds without oneDNN.
#include "luminal/backends/cpu/onednn/library_matmul.h"

namespace luminal::backends::cpu {

bool library_available() { return false; }

std::string library_version() { return {}; }

Result<std::unique_ptr<LibraryMatmul>> make_library_matmul(const LibraryMatmulShape&, int,
                                                           const LibraryMatmul*) {
  return Result<std::unique_ptr<LibraryMatmul>>::failure(
      "this build has no oneDNN: configure it with LUMINAL_ONEDNN=ON");
}

}  // namespace luminal::backends::cpu

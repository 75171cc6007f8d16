// BackendOptions: what the code of an executable is made for.
#pragma once

#include <cstdint>
#include <string>

#include "luminal/backends/library_policy.h"

namespace luminal {

struct BackendOptions {
  std::string name = "cpu";  // see backend_names()
  // Of the cpu backend: "amx" (AVX-512 with AMX), "avx512", "avx2" or "sse2"; default: the best
  // this machine supports.
  std::string target = {};
  int threads = 0;  // 0: as many as this process may use
  LibraryPolicy library = LibraryPolicy::Never;
  // Maximum bytes that an executable allocates; 0: the memory limit of the process's control group.
  uint64_t memory_limit = 0;
  bool float64 = false;  // interp only: compute every float as f64, as the reference
};

}  // namespace luminal

// Host functions that compiled kernels call: for f64, and for lanes outside the range of the
// inlined polynomials.
#pragma once

#include <cstdint>
#include <span>

namespace luminal::backends::cpu {

// Functions of the C library over lanes: out[k] = f(a[k]) (or f(a[k], b[k])) where bit k of `lanes`
// is set.
struct HostFunction {
  const char* name;  // the symbol that kernels refer to
  void* address;
};

std::span<const HostFunction> host_functions();

}  // namespace luminal::backends::cpu

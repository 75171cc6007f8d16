// What compiled kernels call back for: the lanes that the inlined polynomials leave out, and f64.
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

// Target: the processor that kernels are compiled for.
#pragma once

#include <string>

namespace luminal::backends::cpu {

struct Target {
  std::string cpu;       // as LLVM names it: "sapphirerapids"
  std::string features;  // as LLVM takes them, sorted: "+avx2,-avx512f,…"
  int vector_bytes = 16;
  bool avx512 = false;  // F, BW, DQ and VL: 64-byte vectors with a mask for each lane

  bool avx512_bf16 = false;

  // This machine, asked once per process.
  static const Target& host();
  // This machine with AVX-512 off: what a smaller processor of its family would run.
  static Target host_avx2();
};

}  // namespace luminal::backends::cpu

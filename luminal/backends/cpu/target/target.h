// Target: the processor that kernels are compiled for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luminal::backends::cpu {

struct Target {
  std::string name;      // as users write it: "avx512", "avx2", "sse2", "aarch64"
  std::string triple;    // as LLVM names the machine: "x86_64-pc-linux-gnu"
  std::string cpu;       // as LLVM names the processor: "sapphirerapids"
  std::string features;  // as LLVM takes them, sorted: "+avx2,-avx512f,…"
  int vector_bytes = 16;
  bool x86 = false;
  bool avx512 = false;  // F, BW, DQ and VL: 64-byte vectors with a mask for each lane
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  // Tiles of these, which the system lets this process use.
  bool amx_bf16 = false;
  bool amx_int8 = false;

  // The best of this machine's, by what its processor and system say; asked once per process.
  static const Target& host();
  // What this machine runs, best first.
  static const std::vector<Target>& here();
  // One of here() by its name; empty is host(). UserError for others.
  static const Target& named(std::string_view name);
  // 64-bit ARM with NEON, whatever this machine is: kernels can be assembled for it.
  static Target aarch64();
};

}  // namespace luminal::backends::cpu

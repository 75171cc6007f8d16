// Target: the processor that kernels are compiled for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luminal::backends::cpu {

struct Target {
  std::string name;      // as users write it: "amx", "avx512", "avx2", "sse2", "aarch64"
  std::string triple;    // as LLVM names the machine: "x86_64-pc-linux-gnu"
  std::string cpu;       // as LLVM names the processor: "sapphirerapids"
  std::string features;  // as LLVM takes them, sorted: "+avx2,-avx512f,…"
  int vector_bytes = 16;
  bool x86 = false;
  bool avx512 = false;  // F, BW, DQ and VL: 64-byte vectors with a mask for each lane
  bool avx512_bf16 = false;
  bool avx512_vnni = false;
  // AMX tiles of these types, if the system lets this process use them.
  bool amx_bf16 = false;
  bool amx_int8 = false;

  // The best target that this machine's processor and system support; detected once per process.
  static const Target& host();
  // All targets that this machine can run, best first.
  static const std::vector<Target>& here();
  // One of here() by its name; host() if empty. UserError for others.
  static const Target& named(std::string_view name);
  // 64-bit ARM with NEON, on any machine: kernels can be cross-compiled for it.
  static Target aarch64();
};

}  // namespace luminal::backends::cpu

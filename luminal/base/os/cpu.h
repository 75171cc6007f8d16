// The processor's name, cores, instruction sets and caches.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::base {

// Instruction sets that both the processor and the operating system support. AMX still has to be
// asked for: see may_use_amx().
struct CpuFeatures {
  bool sse42 = false;
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avx_vnni = false;
  bool avx512f = false;
  bool avx512dq = false;
  bool avx512bw = false;
  bool avx512vl = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_tile = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;

  bool operator==(const CpuFeatures&) const = default;
};

// Sizes in bytes of one instance as core 0 sees it; 0 where the system doesn't say.
struct CpuCaches {
  size_t l1_data = 0;
  size_t l2 = 0;
  size_t l3 = 0;
  size_t line = 0;
};

struct CpuInfo {
  std::string name;
  unsigned online_cores = 1;  // logical ones, as the system counts them
  CpuFeatures features;
  CpuCaches caches;
};

// Asks the processor once per process.
const CpuInfo& cpu_info();

// Whether AMX tile instructions may run. Their registers are large, so Linux saves them only for
// processes that request it. The first call requests it; threads started before may use them too.
bool may_use_amx();

// The names of the features that are present, as /proc/cpuinfo spells them, in a fixed order.
std::vector<std::string_view> feature_names(const CpuFeatures& features);

// Identifies the processor in keys of measurements: its name, caches and instruction sets. In
// virtual machines, processors of the same name differ in caches and instruction sets.
std::string processor_text();

}  // namespace luminal::base

#include "luminal/base/os/cpu.h"

#include <gtest/gtest.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace luminal::base {
namespace {

// The words of the first line of /proc/cpuinfo that starts with `key`, each between blanks.
std::string cpuinfo_line(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(key)) return line + " ";
  }
  return "";
}

TEST(OsCpu, FeaturesAgreeWithWhatTheKernelLists) {
  const std::string flags = cpuinfo_line("flags");
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  CpuFeatures all;
  all.sse42 = all.avx = all.avx2 = all.fma = all.f16c = all.avx_vnni = true;
  all.avx512f = all.avx512dq = all.avx512bw = all.avx512vl = true;
  all.avx512_vnni = all.avx512_bf16 = all.avx512_fp16 = true;
  all.amx_tile = all.amx_int8 = all.amx_bf16 = true;
  std::string found = " ";
  for (std::string_view name : feature_names(cpu_info().features)) {
    found += std::string(name) + " ";
  }
  EXPECT_EQ(feature_names(all).size(), 16u);
  for (std::string_view name : feature_names(all)) {
    const std::string word = " " + std::string(name) + " ";
    EXPECT_EQ(found.find(word) != std::string::npos, flags.find(word) != std::string::npos) << name;
  }
}

TEST(OsCpu, NameIsWhatTheKernelSays) {
  const std::string line = cpuinfo_line("model name");
  if (line.empty()) GTEST_SKIP() << "/proc/cpuinfo names no model";
  EXPECT_NE(line.find(cpu_info().name), std::string::npos) << line;
}

TEST(OsCpu, CoresAndCachesAreSensible) {
  const CpuInfo& cpu = cpu_info();
  EXPECT_GE(cpu.online_cores, 1u);
  if (cpu.caches.l1_data > 0) {
    EXPECT_GE(cpu.caches.l1_data, 4096u);
    EXPECT_GE(cpu.caches.line, 16u);
  }
  if (cpu.caches.l2 > 0 && cpu.caches.l1_data > 0) {
    EXPECT_GT(cpu.caches.l2, cpu.caches.l1_data);
  }
}

#if defined(__x86_64__) && defined(__linux__)
TEST(OsCpu, AmxMayBeUsedWhereTheKernelGrantedIt) {
  const bool may = may_use_amx();
  uint64_t granted = 0;
  constexpr long kWhatIsGranted = 0x1022;  // ARCH_GET_XCOMP_PERM
  if (syscall(SYS_arch_prctl, kWhatIsGranted, &granted) != 0) {
    EXPECT_FALSE(may) << "the kernel knows no such permission";
    return;
  }
  EXPECT_EQ(may, cpu_info().features.amx_tile && (granted >> 18 & 1) != 0);
}
#endif

TEST(OsCpu, NoFeaturesNoNames) { EXPECT_TRUE(feature_names({}).empty()); }

}  // namespace
}  // namespace luminal::base

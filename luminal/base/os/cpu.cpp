#include "luminal/base/os/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace luminal::base {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);  // leaves zeros on an unknown leaf
  return r;
}

// The register states that the operating system saves (XCR0): an instruction set whose registers
// aren't saved can't be used.
uint64_t enabled_states() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool bit(unsigned word, int index) { return ((word >> index) & 1u) != 0; }

CpuFeatures read_features() {
  CpuFeatures f;
  const Registers one = cpuid(1);
  const Registers seven = cpuid(7);
  const Registers seven_one = seven.a >= 1 ? cpuid(7, 1) : Registers{};
  f.sse42 = bit(one.c, 20);
  const bool os_saves_states = bit(one.c, 27);
  const uint64_t states = os_saves_states ? enabled_states() : 0;
  const bool avx = (states & 0x6) == 0x6;              // XMM and YMM
  const bool avx512 = avx && (states & 0xe0) == 0xe0;  // masks and ZMM
  const bool amx = (states & 0x60000) == 0x60000;      // tile configuration and data
  f.avx = avx && bit(one.c, 28);
  f.fma = avx && bit(one.c, 12);
  f.f16c = avx && bit(one.c, 29);
  f.avx2 = avx && bit(seven.b, 5);
  f.avx_vnni = avx && bit(seven_one.a, 4);
  f.avx512f = avx512 && bit(seven.b, 16);
  f.avx512dq = avx512 && bit(seven.b, 17);
  f.avx512bw = avx512 && bit(seven.b, 30);
  f.avx512vl = avx512 && bit(seven.b, 31);
  f.avx512_vnni = avx512 && bit(seven.c, 11);
  f.avx512_bf16 = avx512 && bit(seven_one.a, 5);
  f.avx512_fp16 = avx512 && bit(seven.d, 23);
  f.amx_tile = amx && bit(seven.d, 24);
  f.amx_int8 = amx && bit(seven.d, 25);
  f.amx_bf16 = amx && bit(seven.d, 22);
  return f;
}

std::string read_name() {
  if (cpuid(0x80000000u).a < 0x80000004u) return "x86-64 processor";
  char text[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers r = cpuid(0x80000002u + i);
    std::memcpy(text + 16 * i, &r, 16);
  }
  std::string name = text;
  const size_t first = name.find_first_not_of(' ');
  const size_t last = name.find_last_not_of(' ');
  return first == std::string::npos ? "x86-64 processor" : name.substr(first, last - first + 1);
}

#else

CpuFeatures read_features() { return {}; }
std::string read_name() { return "unknown processor"; }

#endif

std::string read_line_or_empty(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "48K", "307200K" or "64" → bytes; 0 when it is none of these.
size_t parse_size(const std::string& text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const char unit = end == text.data() + text.size() ? ' ' : *end;
  if (unit == 'K') return value << 10;
  if (unit == 'M') return value << 20;
  return value;
}

CpuCaches read_caches() {
  CpuCaches caches;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = read_line_or_empty(folder + "level");
    if (level.empty()) break;
    const std::string type = read_line_or_empty(folder + "type");
    const size_t size = parse_size(read_line_or_empty(folder + "size"));
    if (level == "1" && type == "Data") caches.l1_data = size;
    if (level == "2") caches.l2 = size;
    if (level == "3") caches.l3 = size;
    if (caches.line == 0) {
      caches.line = parse_size(read_line_or_empty(folder + "coherency_line_size"));
    }
  }
  return caches;
}

CpuInfo read_cpu() {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return {.name = read_name(),
          .online_cores = cores > 0 ? static_cast<unsigned>(cores) : 1u,
          .features = read_features(),
          .caches = read_caches()};
}

}  // namespace

const CpuInfo& cpu_info() {
  static const CpuInfo info = read_cpu();
  return info;
}

bool may_use_amx() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool granted = [] {
    constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr long kTileData = 18;               // the register state's number
    return cpu_info().features.amx_tile &&
           syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return granted;
#else
  return false;
#endif
}

std::vector<std::string_view> feature_names(const CpuFeatures& f) {
  const struct {
    bool present;
    std::string_view name;
  } rows[] = {
      {f.sse42, "sse4_2"},
      {f.avx, "avx"},
      {f.avx2, "avx2"},
      {f.fma, "fma"},
      {f.f16c, "f16c"},
      {f.avx_vnni, "avx_vnni"},
      {f.avx512f, "avx512f"},
      {f.avx512dq, "avx512dq"},
      {f.avx512bw, "avx512bw"},
      {f.avx512vl, "avx512vl"},
      {f.avx512_vnni, "avx512_vnni"},
      {f.avx512_bf16, "avx512_bf16"},
      {f.avx512_fp16, "avx512_fp16"},
      {f.amx_tile, "amx_tile"},
      {f.amx_int8, "amx_int8"},
      {f.amx_bf16, "amx_bf16"},
  };
  std::vector<std::string_view> names;
  for (const auto& row : rows) {
    if (row.present) names.push_back(row.name);
  }
  return names;
}

std::string processor_text() {
  const CpuInfo& cpu = cpu_info();
  std::string text = cpu.name + "; caches of " + std::to_string(cpu.caches.l1_data) + ", " +
                     std::to_string(cpu.caches.l2) + ", " + std::to_string(cpu.caches.l3) +
                     " bytes;";
  for (std::string_view name : feature_names(cpu.features)) text.append(" ").append(name);
  return text;
}

}  // namespace luminal::base

// Times single-kernel row ops at 4096×4096 on two threads: best (median) ms and GB/s of the best,
// for each way of storing and prefetching; a star: the kernel came from the cache on disk.
// kernel_bench [PART-OF-NAME] | dump NAME
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/base/os/memory.h"
#include "luminal/shape/scalar.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_recipes.h"

using namespace luminal;
using namespace luminal::backends::cpu;

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Variant {
  const char* name;
  EmitOptions options;
};
const Variant kVariants[] = {
    {"plain", {.nontemporal_stores = false, .choices = {{kernel::Knob::Prefetch, 0}}}},
    {"nt", {.nontemporal_stores = true, .choices = {{kernel::Knob::Prefetch, 0}}}},
    {"prefetch", {.nontemporal_stores = false}},
    {"nt+prefetch", {.nontemporal_stores = true}},
};

// The variants in turn, so that what else the machine does hits them alike.
void bench(Jit& jit, const char* name, const kernel::Kernel& k, int threads, int rounds) {
  std::vector<std::shared_ptr<const CompiledKernel>> compiled;
  std::vector<Launch> launches;
  for (const Variant& variant : kVariants) {
    compiled.push_back(jit.compile(k, variant.options));
    launches.push_back(prepare_launch(*compiled.back(), {}, {.threads = threads}));
  }
  std::vector<base::LargeBuffer> buffers;
  std::vector<const void*> addresses;
  double bytes = 0;
  std::mt19937 random(1);
  for (const auto& param : k.params) {
    const int64_t n = *n_elements(param.dims).to_int();
    buffers.emplace_back(static_cast<size_t>(byte_size(param.dtype, n)) + 64);
    bytes += static_cast<double>(byte_size(param.dtype, n));
    for (int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(static_cast<int>(random() % 8001) - 4000) / 1000.0;
      store_float(param.dtype, buffers.back().bytes().data(), i, round_to(param.dtype, x));
    }
    addresses.push_back(buffers.back().bytes().data());
  }
  base::LargeBuffer scratch(1 << 20);
  std::vector<std::vector<double>> times(launches.size());
  for (int r = 0; r < rounds; ++r) {
    for (size_t v = 0; v < launches.size(); ++v) {
      const double start = now_ms();
      run(launches[v], addresses, scratch.bytes().data());
      times[v].push_back(now_ms() - start);
    }
  }
  std::printf("%-18s compile %5.1f ms%s", name, compiled[0]->compile_ms(),
              compiled[0]->from_cache() ? "*" : " ");
  for (size_t v = 0; v < launches.size(); ++v) {
    std::sort(times[v].begin(), times[v].end());
    std::printf("  | %s %5.2f (%5.2f) ms %4.1f GB/s", kVariants[v].name, times[v][0],
                times[v][times[v].size() / 2], bytes / times[v][0] * 1e-6);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  std::vector<std::pair<std::string, kernel::Kernel>> kernels;
  for (DType dtype : {DType::F32, DType::BF16}) {
    const std::string suffix = dtype == DType::F32 ? ".f32" : ".bf16";
    for (auto& [name, make] : recipes())
      kernels.emplace_back(name + suffix, make(dtype, 4096, 4096));
  }
  if (argc > 2 && !std::strcmp(argv[1], "dump")) {
    for (auto& [name, k] : kernels) {
      if (name != argv[2]) continue;
      auto compiled = jit.compile(k);
      std::printf("%s\n%s\n", compiled->llvm_ir().c_str(), compiled->assembly().c_str());
    }
    return 0;
  }
  for (auto& [name, k] : kernels) {
    if (argc > 1 && name.find(argv[1]) == std::string::npos) continue;
    bench(jit, name.c_str(), k, 2, 25);
  }
}

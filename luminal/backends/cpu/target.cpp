#include "luminal/backends/cpu/target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <map>

namespace luminal::backends::cpu {
namespace {

using Features = std::map<std::string, bool>;

Target from_features(const std::string& cpu, const Features& features) {
  Target target;
  target.cpu = cpu;
  for (const auto& [name, present] : features) {
    if (!target.features.empty()) target.features += ',';
    target.features += (present ? '+' : '-') + name;
  }
  auto has = [&](const char* name) {
    auto found = features.find(name);
    return found != features.end() && found->second;
  };
  target.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  target.avx512_bf16 = target.avx512 && has("avx512bf16");
  target.vector_bytes = target.avx512 ? 64 : has("avx2") ? 32 : 16;
  return target;
}

Features host_features() {
  Features features;  // sorted: a StringMap's order differs from run to run
  for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
    features[entry.first().str()] = entry.second;
  }
  return features;
}

}  // namespace

const Target& Target::host() {
  static const Target target = from_features(llvm::sys::getHostCPUName().str(), host_features());
  return target;
}

Target Target::host_avx2() {
  Features features = host_features();
  for (auto& [name, present] : features) {
    if (name.starts_with("avx512") || name.starts_with("avx10") || name.starts_with("amx")) {
      present = false;
    }
  }
  return from_features("x86-64-v3", features);
}

}  // namespace luminal::backends::cpu

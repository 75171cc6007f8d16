#include "luminal/backends/cpu/target/target.h"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <map>

#include "luminal/base/errors.h"
#include "luminal/base/os/cpu.h"

namespace luminal::backends::cpu {
namespace {

using Features = std::map<std::string, bool>;  // sorted: a StringMap's order differs between runs

std::string text(const Features& features) {
  std::string result;
  for (const auto& [name, present] : features) {
    if (!result.empty()) result += ',';
    result += (present ? '+' : '-') + name;
  }
  return result;
}

Features host_features() {
  Features features;
  for (const auto& entry : llvm::sys::getHostCPUFeatures()) {
    features[entry.first().str()] = entry.second;
  }
  return features;
}

#if defined(__x86_64__)

void forget(Features& features, std::string_view family) {
  for (auto& [name, present] : features) present = present && !name.starts_with(family);
}

std::vector<Target> x86_targets() {
  const base::CpuFeatures& has = base::cpu_info().features;
  const std::string triple = llvm::sys::getProcessTriple();
  std::vector<Target> targets;
  Features features = host_features();
  if (has.avx512f && has.avx512bw && has.avx512dq && has.avx512vl) {
    const auto add = [&](const char* name, bool amx) {
      if (!amx) forget(features, "amx");
      targets.push_back({.name = name,
                         .triple = triple,
                         .cpu = llvm::sys::getHostCPUName().str(),
                         .features = text(features),
                         .vector_bytes = 64,
                         .x86 = true,
                         .avx512 = true,
                         .avx512_bf16 = has.avx512_bf16,
                         .avx512_vnni = has.avx512_vnni,
                         .amx_bf16 = amx && has.amx_bf16,
                         .amx_int8 = amx && has.amx_int8});
    };
    if (base::may_use_amx() && (has.amx_bf16 || has.amx_int8)) add("amx", true);
    add("avx512", false);
  }
  if (has.avx2 && has.fma && has.f16c) {
    // As on a processor without AVX-512.
    for (const char* family : {"avx512", "avx10", "amx"}) forget(features, family);
    targets.push_back({.name = "avx2",
                       .triple = triple,
                       .cpu = "x86-64-v3",
                       .features = text(features),
                       .vector_bytes = 32,
                       .x86 = true});
  }
  // The x86-64 baseline. It has no fused multiply-add: correct, but slow.
  targets.push_back({.name = "sse2",
                     .triple = triple,
                     .cpu = "x86-64",
                     .features = {},
                     .vector_bytes = 16,
                     .x86 = true});
  return targets;
}

#else

Target this_arm() {
  Target target = Target::aarch64();
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  target.features = text(host_features());
  return target;
}

#endif

}  // namespace

const std::vector<Target>& Target::here() {
#if defined(__x86_64__)
  static const std::vector<Target> targets = x86_targets();
#else
  static const std::vector<Target> targets = {this_arm()};
#endif
  return targets;
}

const Target& Target::host() { return here().front(); }

const Target& Target::named(std::string_view name) {
  if (name.empty()) return host();
  auto found = std::ranges::find(here(), name, &Target::name);
  if (found != here().end()) return *found;
  std::vector<std::string> names;
  for (const Target& target : here()) names.push_back(target.name);
  throw UserError(fmt::format("target '{}' does not run on this machine; it has {}", name,
                              fmt::join(names, ", ")));
}

Target Target::aarch64() {
  return {.name = "aarch64",
          .triple = "aarch64-unknown-linux-gnu",
          .cpu = "generic",
          .features = "+neon",
          .vector_bytes = 16};
}

}  // namespace luminal::backends::cpu

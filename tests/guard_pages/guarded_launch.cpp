#include "tests/guard_pages/guarded_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/shape/scalar.h"
#include "tests/support/random_graph.h"

namespace luminal::tests {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<int64_t> resolve(const GuardedLaunch& launch, const Dims& dims) {
  Bindings bindings;
  for (size_t k = 0; k < launch.variables.size(); ++k) {
    bindings.set(launch.kernel->variables[k].name(), launch.variables[k]);
  }
  std::vector<int64_t> sizes;
  for (Expr dim : dims) sizes.push_back(dim.evaluate(bindings).value.value());
  return sizes;
}

// Integers are any at all, half of the time: a gather must stay inside for every index.
Bytes random_bytes(const kernel::Param& param, const std::vector<int64_t>& dims,
                   RandomSource& random) {
  const TensorData data = random_data(param.dtype, dims, random);
  Bytes bytes(data.bytes.begin(), data.bytes.end());
  if (is_int(param.dtype) && random.chance(0.5)) {
    for (int64_t i = 0; i < data.n_elements(); ++i) {
      store_int(param.dtype, bytes.data(), i,
                wrap_to(param.dtype, static_cast<int64_t>(random.bits())));
    }
  }
  return bytes;
}

size_t alignment_of(const GuardedLaunch& launch, const kernel::Param& param) {
  if (param.output && launch.nontemporal_stores) return 64;
  return static_cast<size_t>(std::max(1, bits(param.dtype) / 8));
}

// One run; its outputs go to `outputs`.
std::optional<std::string> run_once(const GuardedLaunch& launch, GuardedMemory& memory,
                                    const std::vector<Bytes>& given, GuardedSide side, bool halves,
                                    Bytes& outputs) {
  const kernel::Kernel& kernel = *launch.kernel;
  const auto canary = static_cast<std::byte>(side == GuardedSide::End ? 0x5a : 0xa7);
  memory.clear();
  std::vector<const void*> params;
  std::vector<std::byte*> rooms;
  for (size_t k = 0; k < given.size(); ++k) {
    rooms.push_back(memory.place(fmt::format("parameter p{}", k), given[k].size(),
                                 alignment_of(launch, kernel.params[kernel::ParamId::at(k)]), side,
                                 canary));
    if (!given[k].empty()) std::memcpy(rooms[k], given[k].data(), given[k].size());
    params.push_back(rooms[k]);
  }
  void* scratch = memory.place("the scratch memory", static_cast<size_t>(launch.scratch_bytes), 64,
                               side, canary);
  const int64_t middle = launch.vector_outer ? launch.points / 2 / 64 * 64 : launch.points / 2;
  auto escape = memory.escape_of([&] {
    if (halves) {
      launch.function(params.data(), launch.variables.data(), middle, launch.points, scratch);
      launch.function(params.data(), launch.variables.data(), 0, middle, scratch);
    } else {
      launch.function(params.data(), launch.variables.data(), 0, launch.points, scratch);
    }
  });
  if (escape) return fmt::format("{} (guarded at the {})", *escape, name(side));
  outputs.clear();
  for (size_t k = 0; k < given.size(); ++k) {
    if (kernel.params[kernel::ParamId::at(k)].output) {
      outputs.insert(outputs.end(), rooms[k], rooms[k] + given[k].size());
    } else if (!given[k].empty() && std::memcmp(rooms[k], given[k].data(), given[k].size()) != 0) {
      return fmt::format("writes to parameter p{}, an input", k);
    }
  }
  return std::nullopt;
}

}  // namespace

GuardedLaunch guarded_launch(const backends::cpu::CompiledKernel& kernel,
                             std::span<const int64_t> variables) {
  const backends::cpu::Launch launch = backends::cpu::prepare_launch(kernel, variables, {});
  return {.kernel = &kernel.kernel(),
          .function = kernel.function(),
          .variables = {variables.begin(), variables.end()},
          .points = launch.points,
          .scratch_bytes = launch.scratch_bytes,
          .vector_outer = kernel.schedule().vector_outer && !kernel.schedule().tiling,
          .nontemporal_stores = kernel.options().nontemporal_stores};
}

std::optional<std::string> escape_of(const GuardedLaunch& launch, GuardedMemory& memory,
                                     RandomSource& random, std::span<const GuardedSide> sides) {
  std::vector<Bytes> given;
  for (const kernel::Param& param : launch.kernel->params) {
    const std::vector<int64_t> dims = resolve(launch, param.dims);
    given.push_back(random_bytes(param, dims, random));
  }
  std::optional<Bytes> first;
  for (GuardedSide side : sides) {
    for (bool halves : {false, true}) {
      Bytes outputs;
      if (auto escape = run_once(launch, memory, given, side, halves, outputs)) return escape;
      if (!first) first = outputs;
      if (outputs != *first) {
        return fmt::format(
            "another result when guarded at the {}{}: it depends on what lies "
            "around its buffers",
            name(side), halves ? " and run in two ranges" : "");
      }
    }
  }
  return std::nullopt;
}

}  // namespace luminal::tests

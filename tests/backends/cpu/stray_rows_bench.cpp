// What looking at indices costs: kernels with and without it in turns, as cases of the protocol in
// docs/bench-protocol.md. Answers have the seconds of a call that looks, by round, the shortest
// call of either kind, and of_blind: the ratio to the time of not looking.
#include <algorithm>
#include <chrono>
#include <random>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/ratio_json.h"
#include "apps/bench/harness/turns.h"
#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/base/os/memory.h"
#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "luminal/shape/scalar.h"
#include "luminal/version.h"
#include "tests/search/planned.h"

namespace luminal {
namespace {

namespace cpu = backends::cpu;
using Clock = std::chrono::steady_clock;

// Where code lands in memory alone makes such a kernel up to 5 % faster or slower: each is compiled
// several times.
constexpr int kPlaces = 15;
constexpr int kRoundsPerPlace = 25;
constexpr double kRoundSeconds = 2e-3;
constexpr double kConfidence = 0.95;

struct Case {
  const char* name;
  int64_t rows, width, indices;
  DType dtype;
  bool writes;
};
constexpr Case kCases[] = {
    {"elements-i64", 4000, 0, 1'000'000, DType::I64, false},
    {"elements-i32", 4000, 0, 1'000'000, DType::I32, false},
    {"far-elements-i64", 8'000'000, 0, 1'000'000, DType::I64, false},
    {"rows-768", 5000, 768, 512, DType::I64, false},
    {"rows-16", 5000, 16, 5000, DType::I64, false},
    {"one-token", 49152, 576, 1, DType::I32, false},
    {"scattered-rows", 4096, 192, 64, DType::I64, true},
};

kernel::Kernel kernel_of(const Case& of) {
  Graph graph;
  const Dims row = of.width == 0 ? Dims{} : Dims{of.width};
  Dims table = {of.rows}, values = {of.indices};
  table.insert(table.end(), row.begin(), row.end());
  values.insert(values.end(), row.begin(), row.end());
  const Tensor x = graph.input("x", table);
  const Tensor index = graph.input("index", {of.indices}, of.dtype);
  (of.writes ? prim::scatter(x, index, graph.input("values", values)) : prim::gather(x, index))
      .output("y");
  const search::FoundPlan found = search::plan(graph);
  return std::get<kernel::KernelStep>(found.plan.steps[0]).lowered.kernel;
}

void fill(const kernel::Param& param, int64_t rows, std::span<std::byte> bytes) {
  std::mt19937_64 random(1);
  const int64_t count = *n_elements(param.dims).to_int();
  for (int64_t i = 0; i < count && !is_float(param.dtype); ++i) {
    store_int(param.dtype, bytes.data(), i,
              static_cast<int64_t>(random() % static_cast<uint64_t>(rows)));
  }
}

bench::Json measure(const Case& of) {
  const kernel::Kernel kernel = kernel_of(of);
  std::vector<base::LargeBuffer> buffers;
  std::vector<const void*> addresses;
  for (const kernel::Param& param : kernel.params) {
    buffers.emplace_back(
        static_cast<size_t>(byte_size(param.dtype, *n_elements(param.dims).to_int())) + 64);
    fill(param, of.rows, buffers.back().bytes());
    addresses.push_back(buffers.back().bytes().data());
    if (param.shares.valid()) addresses.back() = addresses[param.shares.index()];
  }
  base::LargeBuffer scratch(1 << 20);
  std::vector<double> looking, blind;           // seconds of one call, by round
  std::vector<std::unique_ptr<cpu::Jit>> jits;  // all at once, so that no place is taken twice
  for (int place = 0; place < kPlaces; ++place) {
    cpu::Jit& jit = *jits.emplace_back(std::make_unique<cpu::Jit>(
        cpu::Jit::Options{.target = cpu::Target::host(), .cache_folder = {}}));
    std::shared_ptr<const cpu::CompiledKernel> kernels[2];
    cpu::Launch launches[2];
    for (const bool second : {false, true}) {
      const bool looks = second == (place % 2 == 0);
      kernels[looks] = jit.compile(kernel, {.look_at_rows = looks});
      launches[looks] = cpu::prepare_launch(*kernels[looks], {}, {.threads = 1});
    }
    int times = 1;
    const auto seconds = [&](bool looks) {
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < times; ++i) cpu::run(launches[looks], addresses, scratch.bytes().data());
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    seconds(false);
    times = std::max(1, static_cast<int>(kRoundSeconds / std::max(seconds(true), 1e-8)));
    const auto side = [&](bool looks) {
      return [&, looks](int) { return seconds(looks) / times; };
    };
    const bench::TurnTimes taken = bench::take_turns(
        {side(false), side(true)}, {.least = kRoundsPerPlace, .most = kRoundsPerPlace});
    blind.insert(blind.end(), taken[0].begin(), taken[0].end());
    looking.insert(looking.end(), taken[1].begin(), taken[1].end());
  }
  return {{"seconds", looking},
          {"shortest", std::min(std::ranges::min(looking), std::ranges::min(blind))},
          {"of_blind", bench::ratio_json(bench::ratios_of(looking, blind), kConfidence)}};
}

bench::Json answer(const bench::Command& command) {
  for (const Case& of : kCases) {
    if (command.of == of.name) return measure(of);
  }
  throw UserError("there is no case '" + command.of + "'");
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  using namespace luminal;
  bench::Contestant contestant{.name = "index checks",
                               .version = LUMINAL_VERSION,
                               .cases = {},
                               .settings = bench::Json::object(),
                               .answer = answer};
  for (const Case& of : kCases) contestant.cases.push_back(of.name);
  return bench::bench_main(contestant, argc, argv);
}

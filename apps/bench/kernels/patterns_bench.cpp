// Times seven patterns at 4096×4096 on request, so that patterns.py can interleave them with other
// frameworks. Commands on standard input, one answer each on standard output:
//   prepare PATTERN DTYPE   compiles it with fusion policy 'always': "kernels 1"
//   run N                   the seconds of each of N runs
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <random>
#include <string>

#include "apps/bench/harness/answer_commands.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

constexpr int64_t kRows = 4096;
constexpr int64_t kWidth = 4096;
constexpr int64_t kHead = 64;

Tensor rotate(Graph& graph, const Tensor& x) {
  // Tokens × heads × head size, with tables of cosines and sines per token, as in models.
  Tensor heads = x.reshape({kRows, kWidth / kHead, kHead});
  auto table = [&](const char* name) {
    return graph.input(name, {kRows, kHead}, x.dtype()).unsqueeze(1).expand_as(heads);
  };
  Tensor half = concat({-heads.slice(2, kHead / 2, kHead), heads.slice(2, 0, kHead / 2)}, 2);
  return heads * table("cos") + half * table("sin");
}

Tensor build(Graph& graph, const std::string& pattern, DType dtype) {
  Tensor x = graph.input("x", {kRows, kWidth}, dtype);
  auto row = [&](const char* name) { return graph.weight(name, {kWidth}, dtype); };
  auto second = [&] { return graph.input("second", {kRows, kWidth}, dtype); };
  if (pattern == "softmax") return softmax(x, -1);
  if (pattern == "layer_norm") return layer_norm(x, {kWidth}, row("w"), row("b"));
  if (pattern == "rms_norm") return rms_norm(x, {kWidth}, row("w"), 1e-5);
  if (pattern == "gelu") return gelu(x);
  if (pattern == "swiglu") return silu(x) * second();
  if (pattern == "rotary") return rotate(graph, x);
  if (pattern == "add_rms_norm") return rms_norm(x + second(), {kWidth}, row("w"), 1e-5);
  throw UserError("patterns_bench: there is no pattern '" + pattern + "'");
}

struct Prepared {
  Graph graph;
  std::optional<Executable> exe;
};

int prepare(Prepared& prepared, const std::string& pattern, const std::string& dtype_name) {
  const DType dtype = dtype_from_name(dtype_name).value();
  build(prepared.graph, pattern, dtype).output("y");
  CompileReport report;
  prepared.exe.emplace(
      compile(prepared.graph, {.plan = {.fusion = FusionPolicy::Always}, .report = &report}));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (NodeId leaf : prepared.graph.leaves()) {
    const Tensor tensor = prepared.graph.tensor(leaf);
    std::vector<float> values(static_cast<size_t>(*tensor.n_elements().to_int()));
    for (float& value : values) value = normal(random);
    prepared.exe->set(tensor, values);
  }
  return static_cast<int>(report.kernels.size());
}

std::string run(Executable& exe, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += bench::timed_run(exe);
  }
  return out;
}

}  // namespace
}  // namespace luminal

int main() {
  using namespace luminal;
  return bench::answer_commands<Prepared>(
      "patterns_bench", {{"prepare",
                          [](Prepared& prepared, std::istream& in) {
                            std::string pattern, dtype;
                            in >> pattern >> dtype;
                            return fmt::format("kernels {}", prepare(prepared, pattern, dtype));
                          }},
                         {"run", [](Prepared& prepared, std::istream& in) {
                            int count = 0;
                            in >> count;
                            return run(*prepared.exe, count);
                          }}});
}

// Times single primitives and fused patterns over 2^24 elements on request, so that kernels.py can
// interleave them with other frameworks. Commands on standard input, one answer each on standard
// output:
//   prepare CASE DTYPE FOLDER THREADS
//                  compiles it with fusion policy 'always'; FOLDER/x holds the bytes of input x:
//                  "kernels 1 threads 2 target avx512 (…)"
//   run N          the seconds of each of N runs
//   cpu N          the same in CPU time of this thread: with one thread, the cost of a run whatever
//                  else the machine does
//   result FILE    writes the bytes of the result to FILE: "ok"
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "apps/bench/harness/answer_commands.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

constexpr int64_t kRows = 4096;
constexpr int64_t kWidth = 4096;
constexpr int64_t kHead = 64;

// The inputs of a case, created on demand.
struct Inputs {
  Graph& graph;
  DType dtype;
  Tensor flat(const char* name) { return graph.input(name, {kRows * kWidth}, dtype); }
  Tensor rows(const char* name) { return graph.input(name, {kRows, kWidth}, dtype); }
  Tensor row(const char* name) { return graph.weight(name, {kWidth}, dtype); }
};

Tensor rotate(Inputs& in) {
  // Tokens × heads × head size, with tables of cosines and sines per token, as in models.
  Tensor heads = in.rows("x").reshape({kRows, kWidth / kHead, kHead});
  auto table = [&](const char* name) {
    return in.graph.input(name, {kRows, kHead}, in.dtype).unsqueeze(1).expand_as(heads);
  };
  Tensor half = concat({-heads.slice(2, kHead / 2, kHead), heads.slice(2, 0, kHead / 2)}, 2);
  return heads * table("cos") + half * table("sin");
}

using Build = std::function<Tensor(Inputs&)>;

const std::map<std::string, Build>& cases() {
  static const std::map<std::string, Build> list = {
      {"exp2", [](Inputs& in) { return exp2(in.flat("x")); }},
      {"log2", [](Inputs& in) { return log2(in.flat("x")); }},
      {"sin", [](Inputs& in) { return sin(in.flat("x")); }},
      {"recip", [](Inputs& in) { return reciprocal(in.flat("x")); }},
      {"sqrt", [](Inputs& in) { return sqrt(in.flat("x")); }},
      {"add", [](Inputs& in) { return in.flat("x") + in.flat("second"); }},
      {"mul", [](Inputs& in) { return in.flat("x") * in.flat("second"); }},
      {"mod", [](Inputs& in) { return fmod(in.flat("x"), in.flat("second")); }},
      {"less_than", [](Inputs& in) { return in.flat("x") < in.flat("second"); }},
      {"gather",
       [](Inputs& in) {
         return embedding(in.rows("x"), in.graph.input("index", {kRows}, DType::I64));
       }},
      {"cast",
       [](Inputs& in) {
         return in.flat("x").cast(in.dtype == DType::F32 ? DType::BF16 : DType::F32);
       }},
      {"sum", [](Inputs& in) { return sum(in.rows("x"), -1); }},
      {"max", [](Inputs& in) { return max(in.rows("x"), -1); }},
      {"softmax", [](Inputs& in) { return softmax(in.rows("x"), -1); }},
      {"log_softmax", [](Inputs& in) { return log_softmax(in.rows("x"), -1); }},
      {"layer_norm",
       [](Inputs& in) { return layer_norm(in.rows("x"), {kWidth}, in.row("w"), in.row("b")); }},
      {"rms_norm", [](Inputs& in) { return rms_norm(in.rows("x"), {kWidth}, in.row("w"), 1e-5); }},
      {"add_rms_norm",
       [](Inputs& in) {
         return rms_norm(in.rows("x") + in.rows("second"), {kWidth}, in.row("w"), 1e-5);
       }},
      {"gelu", [](Inputs& in) { return gelu(in.rows("x")); }},
      {"swiglu", [](Inputs& in) { return silu(in.rows("x")) * in.rows("second"); }},
      {"relu_fma",
       [](Inputs& in) { return relu(in.rows("x") * in.rows("second") + in.rows("third")); }},
      {"rotary", rotate},
  };
  return list;
}

struct Prepared {
  Graph graph;
  Tensor result;
  std::optional<Executable> exe;
};

std::string prepare(Prepared& prepared, const std::string& name, const std::string& dtype_name,
                    const std::string& folder, int threads) {
  auto found = cases().find(name);
  if (found == cases().end()) throw UserError("kernels_bench: there is no case '" + name + "'");
  Inputs inputs{prepared.graph, dtype_from_name(dtype_name).value()};
  prepared.result = found->second(inputs);
  prepared.result.output("y");
  CompileReport report;
  prepared.exe.emplace(compile(prepared.graph, {.backend = {.threads = threads},
                                                .plan = {.fusion = FusionPolicy::Always},
                                                .report = &report}));
  bench::set_leaves(*prepared.exe, prepared.graph, folder);
  return fmt::format("kernels {} threads {} target {}", report.kernels.size(), threads,
                     report.target);
}

std::string run(Executable& exe, int count, double (*clock)()) {
  std::string out;
  for (int i = 0; i < count; ++i) out += bench::timed_run(exe, clock);
  return out;
}

}  // namespace
}  // namespace luminal

int main() {
  using namespace luminal;
  auto timed_by = [](double (*clock)()) {
    return [clock](Prepared& prepared, std::istream& in) {
      int count = 0;
      in >> count;
      return run(*prepared.exe, count, clock);
    };
  };
  return bench::answer_commands<Prepared>(
      "kernels_bench", {{"prepare",
                         [](Prepared& prepared, std::istream& in) {
                           std::string name, dtype, folder;
                           int threads = 0;
                           in >> name >> dtype >> folder >> threads;
                           return prepare(prepared, name, dtype, folder, threads);
                         }},
                        {"run", timed_by(bench::wall_seconds)},
                        {"cpu", timed_by(bench::cpu_seconds)},
                        {"result", [](Prepared& prepared, std::istream& in) {
                           std::string path;
                           in >> path;
                           return bench::write_result(*prepared.exe, prepared.result, path);
                         }}});
}

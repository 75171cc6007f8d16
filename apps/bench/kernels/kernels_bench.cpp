// Single primitives and fused patterns over 2^24 elements, for kernels.py to interleave with
// PyTorch's. Settings:
//   dtype, threads
//   inputs   folder with the bytes of each input, by its name
//   clock    "wall"; "cpu" is the CPU time of the process: with one thread, the cost of a run
//            whatever else the machine does
// Answers have the number of kernels and the target; `write` takes the bytes of the result.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/luminal.h"
#include "luminal/version.h"

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

class PreparedKernel : public bench::Prepared {
 public:
  PreparedKernel(const std::string& of, const bench::Json& settings)
      : clock_(clock_of(settings.at("clock"))) {
    Inputs inputs{graph_, dtype_from_name(settings.at("dtype").get<std::string>()).value()};
    result_ = cases().at(of)(inputs);
    result_.output("y");
    executable_.emplace(compile(graph_, {.backend = {.threads = settings.at("threads")},
                                         .plan = {.fusion = FusionPolicy::Always},
                                         .report = &report_}));
    bench::set_leaves(*executable_, graph_, settings.at("inputs"));
  }

  double run() override {
    return bench::timed([this] { executable_->run(); }, clock_);
  }
  void add_facts(bench::Json& answer) override {
    answer["kernels"] = report_.kernels.size();
    answer["target"] = report_.target;
  }
  void write_result(const std::string& path) override {
    bench::write_bytes(path, executable_->get_data(result_).bytes);
  }

 private:
  static double (*clock_of(const std::string& name))() {
    if (name != "wall" && name != "cpu") throw UserError("the clock is wall or cpu");
    return name == "cpu" ? bench::cpu_seconds : bench::wall_seconds;
  }

  double (*clock_)();
  Graph graph_;
  Tensor result_;
  CompileReport report_;
  std::optional<Executable> executable_;
};

bench::Contestant contestant() {
  bench::Contestant made{
      .name = "luminal",
      .version = LUMINAL_VERSION,
      .cases = {},
      .settings = {{"dtype", "f32"}, {"threads", 1}, {"inputs", ""}, {"clock", "wall"}},
      .answer = bench::answer_by_runs([](const std::string& of, const bench::Json& settings) {
        return std::make_unique<PreparedKernel>(of, settings);
      })};
  for (const auto& [name, build] : cases()) made.cases.push_back(name);
  return made;
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  return luminal::bench::bench_main(luminal::contestant(), argc, argv);
}

// GEMM and attention, for contractions.py to interleave with PyTorch's and oneDNN's. Cases: x
// [M, K] by w [N, K] as linear, gelu (bias and GeLU), swiglu (two weights), q8 and q4 (i8 and u4
// with scales per 32 along k); attention (M tokens of N heads of K, causal); read-rate (reading
// memory, which bounds products of few rows). Settings:
//   shape          [M, N, K]
//   dtype, threads
//   inputs         folder with the bytes of each input, by its name
//   rotate         bytes of weights: makes as many executables as hold them, each with its own
//                  weights; each run uses the next one
//   library        "measured", which uses oneDNN where it is faster, or "never"
//   rate_seconds   of measuring read-rate
// Answers have kernels, by_library (how many of them oneDNN runs), copies (executables), weights
// (bytes of one's weights) and arena; those of read-rate bytes, which were read in the seconds.
// `write` takes the bytes of the first executable's result.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/prepared.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/base/os/cpu.h"
#include "luminal/luminal.h"
#include "luminal/machine/streams.h"
#include "luminal/version.h"

namespace luminal {
namespace {

constexpr int64_t kBlock = 32;  // quantisation group: elements that share a scale

struct Shape {
  int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::F32;
};

Tensor product(Graph& graph, const Shape& shape, const Tensor& x, const char* weight) {
  return matmul(x, graph.weight(weight, {shape.n, shape.k}, shape.dtype).t());
}

Tensor input_of(Graph& graph, const Shape& shape) {
  return graph.input("x", {shape.m, shape.k}, shape.dtype);
}

// Scales [n, k / 32] in f16, as in model files, expanded to [n, k].
Tensor per_block(Graph& graph, const Shape& shape, const char* name) {
  const Expr blocks = shape.k / kBlock;
  const Tensor x = graph.weight(name, {shape.n, blocks}, DType::F16).cast(DType::F32);
  return x.unsqueeze(-1).expand({shape.n, blocks, kBlock}).reshape({shape.n, shape.k});
}

Tensor quantised(Graph& graph, const Shape& shape, DType stored) {
  const Tensor x = input_of(graph, shape).cast(DType::F32);
  const Tensor q = graph.weight("w", {shape.n, shape.k}, stored).cast(DType::F32);
  Tensor w = q * per_block(graph, shape, "scale");
  if (stored == DType::U4) w = w + per_block(graph, shape, "offset");
  return matmul(x, w.t()).cast(shape.dtype);
}

using Build = std::function<Tensor(Graph&, const Shape&)>;

const std::map<std::string, Build>& kinds() {
  static const std::map<std::string, Build> list = {
      {"linear",
       [](Graph& graph, const Shape& shape) {
         return product(graph, shape, input_of(graph, shape), "w");
       }},
      {"gelu",
       [](Graph& graph, const Shape& shape) {
         const Tensor y = product(graph, shape, input_of(graph, shape), "w");
         return gelu(y + graph.weight("b", {shape.n}, shape.dtype));
       }},
      {"swiglu",
       [](Graph& graph, const Shape& shape) {
         const Tensor x = input_of(graph, shape);
         return silu(product(graph, shape, x, "w")) * product(graph, shape, x, "up");
       }},
      {"q8", [](Graph& graph, const Shape& shape) { return quantised(graph, shape, DType::I8); }},
      {"q4", [](Graph& graph, const Shape& shape) { return quantised(graph, shape, DType::U4); }},
      {"attention",
       [](Graph& graph, const Shape& shape) {
         auto leaf = [&](const char* name) {
           return graph.input(name, {1, shape.n, shape.m, shape.k}, shape.dtype);
         };
         return scaled_dot_product_attention(leaf("q"), leaf("k"), leaf("v"), {.causal = true});
       }},
  };
  return list;
}

size_t weight_bytes(Graph& graph) {
  size_t bytes = 0;
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.as<InputAttr>().role != Role::Weight) continue;
    bytes += static_cast<size_t>(byte_size(node.dtype, n_elements(node.dims).to_int().value()));
  }
  return bytes;
}

// Frees the originals of packed weights.
void release_weights(Executable& exe, Graph& graph) {
  for (NodeId leaf : graph.leaves()) {
    if (graph.node(leaf).as<InputAttr>().role != Role::Weight) continue;
    try {
      exe.release(graph.tensor(leaf));
    } catch (const UserError&) {
      // Not packed: runs read the original.
    }
  }
}

class PreparedContraction : public bench::Prepared {
 public:
  PreparedContraction(const std::string& kind, const bench::Json& settings) {
    const std::vector<int64_t> dims = settings.at("shape");
    if (dims.size() != 3) throw UserError("the shape is M, N and K");
    const Shape shape{.m = dims[0],
                      .n = dims[1],
                      .k = dims[2],
                      .dtype = dtype_from_name(settings.at("dtype").get<std::string>()).value()};
    result_ = kinds().at(kind)(graph_, shape);
    result_.output("y");
    weights_ = weight_bytes(graph_);
    const auto policy =
        settings.at("library") == "measured" ? LibraryPolicy::Measured : LibraryPolicy::Never;
    do {
      report_ = {};
      Executable& exe = executables_.emplace_back(compile(
          graph_,
          {.backend = {.threads = settings.at("threads"), .library = policy}, .report = &report_}));
      bench::set_leaves(exe, graph_, settings.at("inputs"));
      exe.run();
      release_weights(exe, graph_);
    } while (executables_.size() * weights_ < settings.at("rotate").get<size_t>());
  }

  double run() override {
    Executable& exe = executables_[next_++ % executables_.size()];
    return bench::timed([&exe] { exe.run(); });
  }
  void add_facts(bench::Json& answer) override {
    answer["kernels"] = report_.kernels.size() - report_.n_packing();
    answer["by_library"] = std::ranges::count_if(report_.kernels, &KernelReport::by_library);
    answer["copies"] = executables_.size();
    answer["weights"] = weights_;
    answer["arena"] = report_.memory.empty() ? 0 : report_.memory.front().peak;
  }
  void write_result(const std::string& path) override {
    bench::write_bytes(path, executables_.front().get_data(result_).bytes);
  }

 private:
  Graph graph_;
  Tensor result_;
  size_t weights_ = 0;
  CompileReport report_;
  std::vector<Executable> executables_;
  size_t next_ = 0;
};

class ReadRate : public bench::Prepared {
 public:
  explicit ReadRate(const bench::Json& settings)
      : threads_(settings.at("threads")),
        seconds_(settings.at("rate_seconds")),
        bytes_(machine::memory_buffer_bytes(base::cpu_info().caches.l3)) {}

  double run() override {
    const auto each = bytes_ / static_cast<size_t>(std::max(threads_, 1));
    const double rate = machine::measure_streams(each, threads_, seconds_).read * 1e9;
    return static_cast<double>(bytes_) / rate;
  }
  void add_facts(bench::Json& answer) override { answer["bytes"] = bytes_; }

 private:
  int threads_;
  double seconds_;
  size_t bytes_;
};

constexpr const char* kReadRate = "read-rate";

bench::Contestant contestant() {
  bench::Contestant made{.name = "luminal",
                         .version = LUMINAL_VERSION,
                         .cases = {},
                         .settings = {{"shape", {1, 16, 16}},
                                      {"dtype", "f32"},
                                      {"threads", 1},
                                      {"inputs", ""},
                                      {"rotate", 0},
                                      {"library", "never"},
                                      {"rate_seconds", 0.3}},
                         .answer = bench::answer_by_runs(
                             [](const std::string& of,
                                const bench::Json& settings) -> std::unique_ptr<bench::Prepared> {
                               if (of == kReadRate) return std::make_unique<ReadRate>(settings);
                               return std::make_unique<PreparedContraction>(of, settings);
                             })};
  for (const auto& [name, build] : kinds()) made.cases.push_back(name);
  made.cases.push_back(kReadRate);
  return made;
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  return luminal::bench::bench_main(luminal::contestant(), argc, argv);
}

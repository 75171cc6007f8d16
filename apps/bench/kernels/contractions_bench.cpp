// Times GEMM and attention on request, so that contractions.py can interleave them with other
// frameworks. Commands on standard input, one answer each on standard output:
//   prepare KIND M N K DTYPE FOLDER THREADS BYTES LIBRARY
//             x [M, K] by w [N, K]; KIND is one of linear, gelu (bias and GeLU), swiglu (two
//             weights), q8 and q4 (i8 and u4 with scales per 32 along k), attention (M tokens of
//             N heads of K, causal). FOLDER holds the bytes of each input. Creates as many
//             executables as hold BYTES of weights, at least one, each with its own weights:
//             "kernels 1 by_library 0 copies 16 weights 67108864 arena 0". LIBRARY is "measured",
//             which uses oneDNN where it is faster, or "never"
//   run N     the seconds of each of N runs; each uses the next executable
//   result FILE
//             writes the bytes of the first executable's result to FILE: "ok"
//   rate THREADS SECONDS
//             the memory read bandwidth in bytes per second
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "apps/bench/harness/answer_commands.h"
#include "apps/bench/harness/timed_runs.h"
#include "luminal/base/os/cpu.h"
#include "luminal/luminal.h"
#include "luminal/machine/streams.h"

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

struct Prepared {
  Graph graph;
  Tensor result;
  std::vector<Executable> executables;
  size_t next = 0;
};

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

std::string prepare(Prepared& prepared, std::istream& in) {
  std::string kind, dtype, folder;
  Shape shape;
  int threads = 0;
  size_t bytes = 0;
  std::string library;
  in >> kind >> shape.m >> shape.n >> shape.k >> dtype >> folder >> threads >> bytes >> library;
  const auto found = kinds().find(kind);
  if (found == kinds().end()) {
    throw UserError("contractions_bench: there is no kind '" + kind + "'");
  }
  shape.dtype = dtype_from_name(dtype).value();
  prepared.result = found->second(prepared.graph, shape);
  prepared.result.output("y");
  const size_t weights = weight_bytes(prepared.graph);
  const auto policy = library == "measured" ? LibraryPolicy::Measured : LibraryPolicy::Never;
  CompileReport report;
  do {
    report = {};
    Executable& exe = prepared.executables.emplace_back(compile(
        prepared.graph, {.backend = {.threads = threads, .library = policy}, .report = &report}));
    bench::set_leaves(exe, prepared.graph, folder);
    exe.run();
    release_weights(exe, prepared.graph);
  } while (prepared.executables.size() * weights < bytes);
  return fmt::format("kernels {} by_library {} copies {} weights {} arena {}",
                     report.kernels.size() - report.n_packing(),
                     std::ranges::count_if(report.kernels, &KernelReport::by_library),
                     prepared.executables.size(), weights,
                     report.memory.empty() ? 0 : report.memory.front().peak);
}

std::string run(Prepared& prepared, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    const size_t next = prepared.next++ % prepared.executables.size();
    out += bench::timed_run(prepared.executables[next]);
  }
  return out;
}

}  // namespace
}  // namespace luminal

int main() {
  using namespace luminal;
  return bench::answer_commands<Prepared>(
      "contractions_bench",
      {{"prepare", prepare},
       {"run",
        [](Prepared& prepared, std::istream& in) {
          int count = 0;
          in >> count;
          return run(prepared, count);
        }},
       {"result",
        [](Prepared& prepared, std::istream& in) {
          std::string path;
          in >> path;
          return bench::write_result(prepared.executables.front(), prepared.result, path);
        }},
       {"rate", [](Prepared&, std::istream& in) {
          int threads = 0;
          double seconds = 0;
          in >> threads >> seconds;
          const size_t bytes = machine::memory_buffer_bytes(base::cpu_info().caches.l3);
          const auto each = bytes / static_cast<size_t>(std::max(threads, 1));
          return fmt::format("{}", machine::measure_streams(each, threads, seconds).read * 1e9);
        }}});
}

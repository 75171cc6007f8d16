#include "apps/cli/compile/debug_cases.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"
#include "luminal/luminal.h"

namespace luminal::cli {
namespace {

void build_softmax(Graph& graph) {
  softmax(graph.input("x", {Expr::var("s", 1, 4096), 256}), -1).output("y");
}

void build_layer_norm(Graph& graph) {
  Tensor x = graph.input("x", {Expr::var("s", 1, 4096), 256});
  layer_norm(x, {256}, graph.weight("w", {256}), graph.weight("b", {256})).output("y");
}

void build_attention(Graph& graph) {
  const Expr s = Expr::var("s", 1, 1024);
  Tensor q = graph.input("q", {4, s, 32});
  Tensor k = graph.input("k", {4, s, 32});
  Tensor v = graph.input("v", {4, s, 32});
  matmul(softmax(matmul(q, k.transpose(-1, -2)) * 0.1767766952966369, -1), v).output("y");
}

void build_mlp(Graph& graph) {
  Tensor x = graph.input("x", {Expr::var("s", 1, 4096), 64});
  Tensor hidden = relu(matmul(x, graph.weight("up", {64, 256})));
  matmul(hidden, graph.weight("down", {256, 64})).output("y");
}

// Layers that differ only in their weights, as rolling into loops needs.
void build_layers(Graph& graph) {
  Tensor h = graph.input("x", {Expr::var("s", 1, 64), 16});
  for (int layer = 0; layer < 4; ++layer) {
    Tensor up = graph.weight(fmt::format("layers.{}.up", layer), {16, 32});
    Tensor down = graph.weight(fmt::format("layers.{}.down", layer), {32, 16});
    h = h + matmul(relu(matmul(h, up)), down);
  }
  h.output("y");
}

// Small enough to read, with an op for each fault: sin, sqrt, a cast and a view.
void build_small(Graph& graph) {
  Tensor turned = sin(graph.input("x", {16, 8}).permute({1, 0}));
  // Named, because compilers differ in the evaluation order of a sum's operands.
  Tensor plain = turned.permute({1, 0});
  Tensor root = sqrt(turned.permute({1, 0}));
  (root + plain).cast(DType::F16).output("y");
}

// Logarithms of positive and negative numbers.
void build_nan(Graph& graph) {
  Tensor x = graph.input("x", {8, 16});
  (log2(x * 2.0) + 1.0).output("y");
}

// Rows 0 … 3; the last index is out of bounds.
void build_index(Graph& graph) {
  Tensor rows = graph.weight("rows", {4, 8});
  embedding(rows, graph.literal({0, 3, 1, 4}, DType::I64)).output("y");
}

using RunKernel = void (*)(const KernelCall&);

// Doubles its input with a custom kernel.
void build_custom(Graph& graph, RunKernel kernel) {
  CustomOp op{.name = "twice",
              .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
              .compute =
                  [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                    const auto* in = reinterpret_cast<const float*>(inputs[0].bytes.data());
                    auto* out = reinterpret_cast<float*>(result.bytes.data());
                    for (int64_t i = 0; i < inputs[0].n_elements(); ++i) out[i] = 2 * in[i];
                  },
              .kernel = CustomKernel{.parallel_dims = 1, .run = kernel}};
  custom_op(std::move(op), {exp(graph.input("x", {16, 8}))}).output("y");
}

// Each point is a row of `width`; `past` more elements are written beyond the last.
void twice(const KernelCall& call, int64_t forgotten, int64_t past) {
  const int64_t width = call.result.dims[1];
  const int64_t rows = call.result.dims[0];
  for (int64_t row = call.begin; row < call.end; ++row) {
    const float* in = call.operands[0].as<float>() + row * width;
    float* out = call.result.as<float>() + row * width;
    for (int64_t i = 0; i < width; ++i) out[i] = i + forgotten < width ? 2 * in[i] : in[i];
    for (int64_t i = 0; row + 1 == rows && i < past; ++i) out[width + i] = 0;
  }
}

void build_custom_right(Graph& graph) {
  build_custom(graph, [](const KernelCall& call) { twice(call, 0, 0); });
}

void build_custom_wrong(Graph& graph) {
  build_custom(graph, [](const KernelCall& call) { twice(call, 1, 0); });
}

void build_custom_outside(Graph& graph) {
  build_custom(graph, [](const KernelCall& call) { twice(call, 0, 3); });
}

void build_roots(Graph& graph) {
  Tensor x = graph.input("x", {16, 8});
  (sqrt(x * x + 1.0) * 3.0).output("y");
}

constexpr DebugCase kCases[] = {
    {"softmax", "softmax over rows", build_softmax},
    {"layer-norm", "layer norm with weight and bias", build_layer_norm},
    {"attention", "four heads of attention", build_attention},
    {"mlp", "two matmuls with a relu between", build_mlp},
    {"layers", "four equal layers with weights of their own", build_layers},
    {"custom", "a custom op with a kernel of its own", build_custom_right},
    {"fault-missing-lowering",
     "planted: a rule puts sin where no kernel computes it, and the one that brings it back fails",
     build_small, R"((ruleset planted.exact)
(rule ((= v (Sin x))) ((union v (Load (Store (Sqrt x)))) (delete (Sin x)))
  :ruleset planted.exact :name "sin-goes-away")
(rewrite (Load (Store (Sqrt (Reindex m v)))) (Sqrt v) :when ((is-identity m))
  :ruleset planted.exact :name "sin-comes-back"))"},
    {"fault-missing-dtype", "planted: a rule casts to a dtype that doesn't exist", build_small,
     R"((ruleset planted.exact)
(rewrite (Sqrt x) (Cast "f32" (Recip (Cast "double" x)))
  :ruleset planted.exact :name "root-in-double"))"},
    {"fault-guard", "planted: a rule's condition never holds", build_small,
     R"((ruleset planted.exact)
(rewrite (Sqrt (Reindex m v)) (Sqrt v) :when ((is-identity m))
  :ruleset planted.exact :name "root-of-a-view"))"},
    {"fault-arity", "planted: a rule gives add one argument", build_small,
     R"((ruleset planted.exact)
(rewrite (Add x) x :ruleset planted.exact :name "lone-add"))"},
    {"fault-types", "planted: a rule makes f16 and f32 equal", build_small,
     R"((ruleset planted.exact)
(rewrite (Cast "f16" x) x :ruleset planted.exact :name "cast-vanishes"))"},
    {"fault-disabled", "planted: a rule's group is off", build_small,
     R"((ruleset planted.exact)
(rewrite (Add x y) (Add y x) :ruleset planted.exact :name "add-turns-round"))",
     "planted"},
    {"fault-numerics", "planted: a rule's class isn't admitted", build_small,
     R"((ruleset planted.approximate)
(rewrite (Cast "f16" x) (Cast "f16" (Cast "bf16" x))
  :ruleset planted.approximate :name "through-bf16"))"},
    {"fault-cycle", "planted: sin is left with a term that needs its own value", build_small,
     R"((ruleset planted.exact)
(rule ((= v (Sin x))) ((union v (Recip (Recip v))) (delete (Sin x)))
  :ruleset planted.exact :name "turns-in-circles"))"},
    {"fault-nan", "planted: a logarithm of numbers below 0", build_nan},
    {"fault-index", "planted: an index out of range", build_index},
    {"fault-custom-kernel", "planted: a custom op's kernel forgets the last column",
     build_custom_wrong},
    {"fault-custom-outside", "planted: a custom op's kernel writes past its result",
     build_custom_outside},
    {"fault-rule", "planted: a rule says that sqrt(x) equals x", build_roots,
     R"((ruleset planted.exact)
(rewrite (Sqrt x) x :ruleset planted.exact :name "roots-vanish"))"},
    {"fault-limits", "planted: kernels may hold no more than two values", build_small, nullptr,
     nullptr, 2},
};

}  // namespace

std::span<const DebugCase> debug_cases() { return kCases; }

const DebugCase& find_debug_case(const std::string& name) {
  std::string names;
  for (const DebugCase& known : kCases) {
    if (known.name == name) return known;
    names += fmt::format("\n  {:<24} {}", known.name, known.summary);
  }
  throw UserError(fmt::format("there is no case '{}'; known:{}", name, names));
}

void plant(const DebugCase& which, search::PlanningOptions& options) {
  if (which.rules != nullptr) {
    options.rules.push_back({std::string(which.name) + ".egg", which.rules});
  }
  if (which.disabled_group != nullptr) options.admission.disabled.push_back(which.disabled_group);
  if (which.most_instances > 0) {
    options.search.limits.walk.most_instances = which.most_instances;
  }
}

}  // namespace luminal::cli

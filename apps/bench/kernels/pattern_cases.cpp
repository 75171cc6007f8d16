// Level 2: building blocks of models: GEMM, attention, norms, activations, convolution.
#include <fmt/format.h>

#include "apps/bench/kernels/case.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

constexpr double kEps = 1e-5;

// Rows × width of row-wise ops: 16 KB, 512 KB, 8 MB, 256 MB in f32.
struct PatternRows {
  int64_t rows, width;
};
PatternRows pattern_rows(Size size) {
  switch (size) {
    case Size::Tiny:
      return {3, 17};
    case Size::L1:
      return {8, 512};
    case Size::L2:
      return {128, 1024};
    case Size::L3:
      return {1024, 2048};
    case Size::Dram:
      return {8192, 8192};
  }
  return {};
}

// Square GEMMs that fit the caches; for memory a GEMV with one row, as in decoding, which is bound
// by reading the weight.
struct Product {
  int64_t m, k, n;
};
Product product_of(Size size) {
  switch (size) {
    case Size::Tiny:
      return {3, 32, 17};
    case Size::L1:
      return {32, 64, 32};
    case Size::L2:
      return {256, 256, 256};
    case Size::L3:
      return {1024, 1024, 1024};
    case Size::Dram:
      return {1, 8192, 12288};
  }
  return {};
}

// Self-attention with as many keys as queries; for memory, one query over a long past (decoding).
struct Heads {
  int64_t heads, queries, keys, width;
};
Heads heads_of(Size size) {
  switch (size) {
    case Size::Tiny:
      return {1, 3, 5, 16};
    case Size::L1:
      return {1, 32, 32, 32};
    case Size::L2:
      return {4, 256, 256, 64};
    case Size::L3:
      return {16, 1024, 1024, 64};
    case Size::Dram:
      return {32, 1, 16384, 128};
  }
  return {};
}

// 3 × 3 with padding 1; as many output as input channels.
struct Image {
  int64_t batch, channels, side;
};
Image image_of(Size size) {
  switch (size) {
    case Size::Tiny:
      return {1, 3, 5};
    case Size::L1:
      return {1, 8, 16};
    case Size::L2:
      return {1, 32, 32};
    case Size::L3:
      return {8, 64, 56};
    case Size::Dram:
      return {16, 64, 112};
  }
  return {};
}

using Apply = Tensor (*)(Graph& graph, const Tensor& x, const Dims& row, DType dtype);

Tensor by_softmax(Graph&, const Tensor& x, const Dims&, DType) { return softmax(x, -1); }
Tensor by_gelu(Graph&, const Tensor& x, const Dims&, DType) { return gelu(x); }
Tensor by_layer_norm(Graph& graph, const Tensor& x, const Dims& row, DType dtype) {
  return layer_norm(x, row, graph.weight("w", row, dtype), graph.weight("b", row, dtype));
}
Tensor by_rms_norm(Graph& graph, const Tensor& x, const Dims& row, DType dtype) {
  return rms_norm(x, row, graph.weight("w", row, dtype), kEps);
}
Tensor by_swiglu(Graph& graph, const Tensor& x, const Dims&, DType dtype) {
  return silu(x) * graph.input("second", x.dims(), dtype);
}
Tensor by_add_rms_norm(Graph& graph, const Tensor& x, const Dims& row, DType dtype) {
  return rms_norm(x + graph.input("second", x.dims(), dtype), row, graph.weight("w", row, dtype),
                  kEps);
}

struct RowOp {
  const char* name;
  Apply apply;
  double flops_per_element;  // each op of the formula counts as one, whatever it costs
};
constexpr RowOp kRowOps[] = {
    {"softmax", by_softmax, 5},        // max, subtract, exp, sum, divide
    {"gelu", by_gelu, 5},              // x · (1 + erf(x / √2)) / 2
    {"layer_norm", by_layer_norm, 8},  // mean, variance, scale, shift
    {"rms_norm", by_rms_norm, 4},      // square, sum, two products
    {"swiglu", by_swiglu, 5},          // x / (1 + exp(−x)) · y
    {"add_rms_norm", by_add_rms_norm, 5},
};

Case row_case(const RowOp& op, Size size, DType dtype) {
  const auto [rows, width] = pattern_rows(size);
  const Dims dims = {rows, width}, row = {width};
  return {.op = op.name,
          .size = size,
          .dtype = dtype,
          .shape = fmt::format("{} × {}", rows, width),
          .build =
              [&op, dims, row, dtype](Graph& graph) {
                op.apply(graph, graph.input("x", dims, dtype), row, dtype).output("y");
              },
          .flops = op.flops_per_element * static_cast<double>(rows * width)};
}

// In i8 the weight has quantisation groups of 32 with a scale each, and x is f32.
void build_product(Graph& graph, const Product& of, DType dtype) {
  const auto [m, k, n] = of;
  if (dtype != DType::I8) {
    const Tensor x = graph.input("x", {m, k}, dtype);
    matmul(x, graph.weight("w", {k, n}, dtype)).output("y");
    return;
  }
  const BlockFormat format{.quants = DType::I8, .block = 32};
  const Tensor quants = graph.weight("w.quants", {n, k}, DType::I8);
  const Tensor scales = graph.weight("w.scales", {n, k / 32}, format.scales);
  const Tensor x = graph.input("x", {m, k});
  matmul(x, dequantise({.format = format, .quants = quants, .scales = scales}).t()).output("y");
}

Case product_case(Size size, DType dtype) {
  const Product of = product_of(size);
  return {.op = "matmul",
          .size = size,
          .dtype = dtype,
          .shape = fmt::format("{} × {} × {}", of.m, of.k, of.n),
          .build = [of, dtype](Graph& graph) { build_product(graph, of, dtype); },
          .flops = 2.0 * static_cast<double>(of.m * of.k) * static_cast<double>(of.n)};
}

Case attention_case(Size size, DType dtype) {
  const Heads of = heads_of(size);
  return {
      .op = "attention",
      .size = size,
      .dtype = dtype,
      .shape = fmt::format("{} heads, {} over {} of {}", of.heads, of.queries, of.keys, of.width),
      .build =
          [of, dtype](Graph& graph) {
            const Dims past = {of.heads, of.keys, of.width};
            const Tensor q = graph.input("q", {of.heads, of.queries, of.width}, dtype);
            const Tensor k = graph.input("k", past, dtype);
            scaled_dot_product_attention(q, k, graph.input("v", past, dtype)).output("y");
          },
      // Two GEMMs.
      .flops = 4.0 * static_cast<double>(of.heads * of.queries * of.keys * of.width)};
}

Case convolution_case(Size size, DType dtype) {
  const Image of = image_of(size);
  const auto points = static_cast<double>(of.batch * of.channels * of.side * of.side);
  return {.op = "conv2d",
          .size = size,
          .dtype = dtype,
          .shape = fmt::format("{} × {} × {} × {}, 3 × 3", of.batch, of.channels, of.side, of.side),
          .build =
              [of, dtype](Graph& graph) {
                const Tensor x = graph.input("x", {of.batch, of.channels, of.side, of.side}, dtype);
                const Tensor w = graph.weight("w", {of.channels, of.channels, 3, 3}, dtype);
                conv2d(x, w, std::nullopt, {.padding = 1}).output("y");
              },
          .flops = 2.0 * points * static_cast<double>(of.channels) * 9};
}

}  // namespace

std::vector<Case> pattern_cases() {
  std::vector<Case> list;
  const auto add = [&](auto make, bool in_i8) {
    for (Size size : kSizes) {
      for (DType dtype : kDTypes) {
        if (is_float(dtype) || in_i8) list.push_back(make(size, dtype));
      }
    }
  };
  add(product_case, true);
  for (const RowOp& op : kRowOps) {
    add([&](Size size, DType dtype) { return row_case(op, size, dtype); }, false);
  }
  add(attention_case, false);
  add(convolution_case, false);
  return list;
}

}  // namespace luminal::bench

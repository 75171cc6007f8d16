#include "luminal/driver/calibrate/calibration_cases.h"

#include <fmt/format.h>

#include <numeric>

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/quantised.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

using Cases = std::vector<CalibrationCase>;
using One = Tensor (*)(const Tensor&);
using Two = Tensor (*)(const Tensor&, const Tensor&);

constexpr double kNormEps = 1e-5;

void add_case(Cases& cases, std::string name, std::function<Tensor(Graph&)> result) {
  cases.push_back(
      {std::move(name), [result = std::move(result)](Graph& graph) { result(graph).output("y"); }});
}

// A tensor of rows: 16 KB, 128 KB, 1 MB, 8 MB in f32, then 64 MB.
struct RowSize {
  int64_t rows, width;
};
constexpr RowSize kInL1{8, 512}, kInL2{64, 512}, kInBoth{256, 1024}, kInL3{1024, 2048},
    kInMemory{4096, 4096};
constexpr RowSize kCacheSizes[] = {kInL1, kInL2, kInBoth, kInL3};

std::string name_of(const char* op, DType dtype, RowSize size) {
  return fmt::format("{}/{}/{} × {}", op, name(dtype), size.rows, size.width);
}

template <typename Apply>
void add_rows(Cases& cases, const char* op, DType dtype, RowSize size, Apply apply) {
  add_case(cases, name_of(op, dtype, size), [=](Graph& graph) {
    return apply(graph, graph.input("x", {size.rows, size.width}, dtype));
  });
}

void add_elementwise(Cases& cases) {
  struct Unary {
    const char* name;
    One apply;
  };
  constexpr Unary kUnary[] = {
      {"exp2", prim::exp2},   {"log2", prim::log2},
      {"sin", prim::sin},     {"sqrt", prim::sqrt},
      {"recip", prim::recip}, {"gelu", [](const Tensor& x) { return gelu(x); }},
      {"silu", silu},         {"square", square}};
  struct Binary {
    const char* name;
    Two apply;
  };
  constexpr Binary kBinary[] = {{"add", prim::add}, {"mod", prim::mod}, {"less", prim::less_than}};
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (RowSize size : kCacheSizes) {
      for (const Unary& op : kUnary) {
        if (dtype == DType::F16 && op.apply != prim::exp2 && op.apply != prim::sqrt) continue;
        add_rows(cases, op.name, dtype, size,
                 [apply = op.apply](Graph&, const Tensor& x) { return apply(x); });
      }
      for (const Binary& op : kBinary) {
        if (dtype == DType::F16 && op.apply != prim::add) continue;
        add_rows(cases, op.name, dtype, size, [apply = op.apply](Graph& graph, const Tensor& x) {
          return apply(x, graph.input("second", x.dims(), x.dtype()));
        });
      }
    }
    add_rows(cases, "add", dtype, kInMemory, [](Graph& graph, const Tensor& x) {
      return x + graph.input("second", x.dims(), x.dtype());
    });
  }
  for (RowSize size : kCacheSizes) {
    add_rows(cases, "add", DType::I8, size, [](Graph& graph, const Tensor& x) {
      return x + graph.input("second", x.dims(), x.dtype());
    });
    add_rows(cases, "to-bf16", DType::F32, size,
             [](Graph&, const Tensor& x) { return prim::cast(x, DType::BF16); });
    add_rows(cases, "to-f32", DType::BF16, size,
             [](Graph&, const Tensor& x) { return prim::cast(x, DType::F32); });
    add_rows(cases, "to-f32", DType::I8, size,
             [](Graph&, const Tensor& x) { return prim::cast(x, DType::F32); });
    add_rows(cases, "transpose", DType::F32, size,
             [](Graph&, const Tensor& x) { return x.t() + 1; });
    add_rows(cases, "count", DType::I32, size, [](Graph& graph, const Tensor& x) {
      return prim::iota(graph, Expr::index(1, x.dims()[1]) % 100, x.dims(), DType::I32) + x;
    });
  }
  add_rows(cases, "exp2", DType::F32, kInMemory,
           [](Graph&, const Tensor& x) { return prim::exp2(x); });
}

void add_reductions(Cases& cases) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (RowSize size : kCacheSizes) {
      add_rows(cases, "sum-rows", dtype, size, [](Graph&, const Tensor& x) { return sum(x, {1}); });
      add_rows(cases, "max-rows", dtype, size, [](Graph&, const Tensor& x) { return max(x, {1}); });
      add_rows(cases, "sum-columns", dtype, size,
               [](Graph&, const Tensor& x) { return sum(x, {0}); });
      add_rows(cases, "softmax", dtype, size,
               [](Graph&, const Tensor& x) { return softmax(x, -1); });
      add_rows(cases, "layer-norm", dtype, size, [](Graph& graph, const Tensor& x) {
        const Dims row = {x.dims()[1]};
        return layer_norm(x, row, graph.weight("w", row, x.dtype()),
                          graph.weight("b", row, x.dtype()));
      });
      add_rows(cases, "add-rms-norm", dtype, size, [](Graph& graph, const Tensor& x) {
        const Dims row = {x.dims()[1]};
        const Tensor both = x + graph.input("second", x.dims(), x.dtype());
        return rms_norm(both, row, graph.weight("w", row, x.dtype()), kNormEps);
      });
    }
    add_rows(cases, "rms-norm", dtype, kInMemory, [](Graph& graph, const Tensor& x) {
      const Dims row = {x.dims()[1]};
      return rms_norm(x, row, graph.weight("w", row, x.dtype()), kNormEps);
    });
  }
  for (RowSize size : kCacheSizes) {
    add_rows(cases, "prod-rows", DType::F32, size,
             [](Graph&, const Tensor& x) { return prod(x, {1}); });
    add_rows(cases, "sum-rows", DType::I8, size,
             [](Graph&, const Tensor& x) { return sum(x, {1}); });
    add_rows(cases, "cumsum", DType::F32, size,
             [](Graph&, const Tensor& x) { return cumsum(x, 1); });
  }
}

void add_indexed(Cases& cases) {
  constexpr int64_t kWidths[] = {64, 512};
  for (DType dtype : {DType::F32, DType::BF16, DType::I8}) {
    for (int64_t elements : {1 << 12, 1 << 15, 1 << 18, 1 << 21}) {
      const int64_t width = kWidths[dtype == DType::BF16];
      const RowSize size{elements / width, width};
      add_rows(cases, "gather", dtype, size, [](Graph& graph, const Tensor& x) {
        return prim::gather(x, graph.input("index", {x.dims()[0]}, DType::I32));
      });
      add_rows(cases, "scatter", dtype, size, [](Graph& graph, const Tensor& x) {
        return prim::scatter(x, graph.input("index", {x.dims()[0]}, DType::I32),
                             graph.input("second", x.dims(), x.dtype()));
      });
    }
  }
}

std::string name_of(const char* op, DType dtype, int64_t m, int64_t k, int64_t n) {
  return fmt::format("{}/{}/{} × {} × {}", op, name(dtype), m, k, n);
}

void add_product(Cases& cases, DType dtype, int64_t m, int64_t k, int64_t n) {
  add_case(cases, name_of("matmul", dtype, m, k, n), [=](Graph& graph) {
    return matmul(graph.input("x", {m, k}, dtype), graph.weight("w", {k, n}, dtype));
  });
}

void add_quantised(Cases& cases, DType quants, int64_t m, int64_t k, int64_t n) {
  add_case(cases, name_of("matmul", quants, m, k, n), [=](Graph& graph) {
    const BlockFormat format{.quants = quants, .block = 32, .zero = quants == DType::U4 ? 8 : 0};
    const Tensor weight = dequantise({.format = format,
                                      .quants = graph.weight("w.quants", {n, k}, quants),
                                      .scales = graph.weight("w.scales", {n, k / 32}, DType::F16)});
    return matmul(graph.input("x", {m, k}), weight.t());
  });
}

void add_products(Cases& cases) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (int64_t side : {32, 64, 128, 256, 512}) add_product(cases, dtype, side, side, side);
    add_product(cases, dtype, 32, 64, 32);
    add_product(cases, dtype, 1, 512, 512);
    add_product(cases, dtype, 1, 2048, 2048);
    add_product(cases, dtype, 4, 1024, 1024);
    add_product(cases, dtype, 16, 1024, 1024);
    add_product(cases, dtype, 128, 768, 3072);
  }
  for (DType dtype : {DType::F32, DType::BF16}) {
    add_product(cases, dtype, 1024, 1024, 1024);
    add_product(cases, dtype, 1, 4096, 8192);
    add_product(cases, dtype, 17, 100, 50);
  }
  for (DType quants : {DType::I8, DType::U4}) {
    for (int64_t m : {1, 4, 16, 128}) {
      add_quantised(cases, quants, m, 512, 512);
      add_quantised(cases, quants, m, 1024, 2048);
    }
    add_quantised(cases, quants, 32, 64, 32);
    add_quantised(cases, quants, 256, 256, 256);
    add_quantised(cases, quants, 1, 4096, 8192);
  }
}

void add_attention(Cases& cases) {
  struct Shape {
    int64_t heads, queries, keys, width;
  };
  constexpr Shape kShapes[] = {{1, 32, 32, 32},   {4, 64, 64, 64},   {4, 256, 256, 64},
                               {8, 512, 512, 64}, {8, 1, 512, 64},   {8, 1, 4096, 128},
                               {16, 1, 1024, 64}, {4, 128, 1024, 64}};
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const Shape& of : kShapes) {
      for (bool causal : {false, true}) {
        if (causal && of.queries < 64) continue;
        if (dtype == DType::F16 && causal) continue;
        const std::string name =
            fmt::format("attention{}/{}/{} × {} × {} × {}", causal ? "-causal" : "",
                        luminal::name(dtype), of.heads, of.queries, of.keys, of.width);
        add_case(cases, name, [=](Graph& graph) {
          const Dims past = {of.heads, of.keys, of.width};
          const Tensor q = graph.input("q", {of.heads, of.queries, of.width}, dtype);
          const Tensor k = graph.input("k", past, dtype), v = graph.input("v", past, dtype);
          return scaled_dot_product_attention(
              q, k, v, {.causal = causal, .past = causal ? of.keys - of.queries : 0});
        });
      }
    }
  }
}

void add_convolutions(Cases& cases) {
  struct Shape {
    int64_t batch, channels, side, window;
    int groups;
  };
  constexpr Shape kShapes[] = {{1, 8, 16, 3, 1},   {1, 32, 32, 3, 1},  {1, 64, 28, 3, 1},
                               {4, 64, 56, 3, 1},  {1, 16, 16, 1, 1},  {1, 64, 56, 1, 1},
                               {1, 32, 32, 3, 32}, {4, 64, 56, 3, 64}, {1, 16, 24, 5, 1}};
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (const Shape& of : kShapes) {
      if (dtype == DType::F16 && of.window != 3) continue;
      const std::string name =
          fmt::format("conv/{}/{} × {} × {}, {} × {}, groups {}", luminal::name(dtype), of.batch,
                      of.channels, of.side, of.window, of.window, of.groups);
      add_case(cases, name, [=](Graph& graph) {
        const Tensor x = graph.input("x", {of.batch, of.channels, of.side, of.side}, dtype);
        const Tensor w =
            graph.weight("w", {of.channels, of.channels / of.groups, of.window, of.window}, dtype);
        return conv2d(x, w, std::nullopt, {.padding = of.window / 2, .groups = of.groups});
      });
    }
  }
}

}  // namespace

std::vector<CalibrationCase> calibration_cases() {
  Cases cases;
  add_elementwise(cases);
  add_reductions(cases);
  add_indexed(cases);
  add_products(cases);
  add_attention(cases);
  add_convolutions(cases);
  // A stride without a common factor with the number of cases visits each of them once.
  size_t stride = cases.size() * 5 / 8;
  while (std::gcd(stride, cases.size()) != 1) ++stride;
  Cases mixed;
  for (size_t i = 0; i < cases.size(); ++i) {
    mixed.push_back(std::move(cases[i * stride % cases.size()]));
  }
  return mixed;
}

}  // namespace luminal

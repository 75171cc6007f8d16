// Level 1: single primitives over flat tensors, rows, or indexed rows.
#include <fmt/format.h>

#include "apps/bench/kernels/case.h"
#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

// Elements of one tensor: 16 KB, 512 KB, 8 MB and 256 MB in f32. Two tensors of the last size
// exceed the largest caches; `tiny` is no multiple of a vector.
int64_t elements(Size size) {
  switch (size) {
    case Size::Tiny:
      return 17;
    case Size::L1:
      return 1 << 12;
    case Size::L2:
      return 1 << 17;
    case Size::L3:
      return 1 << 21;
    case Size::Dram:
      return 1 << 26;
  }
  return 0;
}

// The axis that Sum, Prod and Max reduce, and the rows that indices select.
constexpr int64_t kReduced = 1024;
constexpr int64_t kRow = 64;
constexpr int64_t kTinyWidth = 3;

struct Rows {
  int64_t rows, width;
};
Rows in_rows(Size size, int64_t width) {
  return size == Size::Tiny ? Rows{5, kTinyWidth} : Rows{elements(size) / width, width};
}

// One op: how to build it at a size in a dtype.
struct Op {
  const char* name;
  bool integers;  // whether it supports i8
  enum class Form { Flat, Reduced, Indexed } form;
  Tensor (*apply)(Graph& graph, Dims dims, DType dtype);
  double flops_per_element;
};

Tensor x(Graph& graph, const Dims& dims, DType dtype) { return graph.input("x", dims, dtype); }

template <Tensor (*op)(const Tensor&)>
Tensor unary(Graph& graph, Dims dims, DType dtype) {
  return op(x(graph, dims, dtype));
}

template <Tensor (*op)(const Tensor&, const Tensor&)>
Tensor binary(Graph& graph, Dims dims, DType dtype) {
  return op(x(graph, dims, dtype), graph.input("second", dims, dtype));
}

template <Reducer reducer>
Tensor reduced(Graph& graph, Dims dims, DType dtype) {
  return prim::reduce(x(graph, dims, dtype), reducer);
}

Tensor gathered(Graph& graph, Dims dims, DType dtype) {
  return prim::gather(x(graph, dims, dtype), graph.input("index", {dims[0]}, DType::I32));
}

Tensor scattered(Graph& graph, Dims dims, DType dtype) {
  const Tensor dest = x(graph, dims, dtype);
  const Tensor index = graph.input("index", {dims[0]}, DType::I32);
  return prim::scatter(dest, index, graph.input("second", dims, dtype));
}

// Converts to f32, or from f32 to bf16.
Tensor converted(Graph& graph, Dims dims, DType dtype) {
  return prim::cast(x(graph, dims, dtype), dtype == DType::F32 ? DType::BF16 : DType::F32);
}

// 0 … 99 repeated, which every dtype represents.
Tensor counted(Graph& graph, Dims dims, DType dtype) {
  const Expr value = Expr::index(0, dims[0]) % 100;
  const Tensor whole = prim::iota(graph, value, dims, is_float(dtype) ? DType::I32 : dtype);
  return prim::cast(whole, dtype);
}

using enum Op::Form;
constexpr Op kOps[] = {
    {"exp2", false, Flat, unary<prim::exp2>, 1},
    {"log2", false, Flat, unary<prim::log2>, 1},
    {"sin", false, Flat, unary<prim::sin>, 1},
    {"recip", false, Flat, unary<prim::recip>, 1},
    {"sqrt", false, Flat, unary<prim::sqrt>, 1},
    {"add", true, Flat, binary<prim::add>, 1},
    {"mul", true, Flat, binary<prim::mul>, 1},
    {"mod", true, Flat, binary<prim::mod>, 1},
    {"less_than", true, Flat, binary<prim::less_than>, 1},
    {"gather", true, Indexed, gathered, 0},
    {"scatter", true, Indexed, scattered, 0},
    {"cast", true, Flat, converted, 0},
    {"iota", true, Flat, counted, 0},
    {"sum", true, Reduced, reduced<Reducer::Sum>, 1},
    {"prod", true, Reduced, reduced<Reducer::Prod>, 1},
    {"max", true, Reduced, reduced<Reducer::Max>, 1},
};

Case make_case(const Op& op, Size size, DType dtype) {
  Dims dims;
  std::string shape;
  int64_t count = elements(size);
  if (op.form == Flat) {
    dims = {count};
    shape = std::to_string(count);
  } else {
    const Rows rows = in_rows(size, op.form == Reduced ? kReduced : kRow);
    dims = {rows.rows, rows.width};
    shape = fmt::format("{} × {}", rows.rows, rows.width);
    count = rows.rows * rows.width;
  }
  return {.op = op.name,
          .size = size,
          .dtype = dtype,
          .shape = shape,
          .build = [&op, dims, dtype](Graph& graph) { op.apply(graph, dims, dtype).output("y"); },
          .flops = op.flops_per_element * static_cast<double>(count),
          // Roots, logarithms and divisors need positive numbers; a product of 1024 of these isn't
          // subnormal, which processors handle slowly.
          .low = 0.5,
          .high = 1.5};
}

}  // namespace

std::vector<Case> micro_cases() {
  std::vector<Case> list;
  for (const Op& op : kOps) {
    for (Size size : kSizes) {
      for (DType dtype : kDTypes) {
        if (is_float(dtype) || op.integers) list.push_back(make_case(op, size, dtype));
      }
    }
  }
  return list;
}

}  // namespace luminal::bench

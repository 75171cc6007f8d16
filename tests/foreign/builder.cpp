#include "tests/foreign/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/foreign/real.h"

namespace luminal::tests::foreign {

bool Builder::fits(const Shape& shape, int64_t most) const {
  if (shape.size() > 8) return false;
  return std::ranges::all_of(program_.runs, [&](const ProgramRun& run) {
    // A dim of 0 doesn't excuse what dims before it make.
    int64_t count = 1;
    for (int64_t size : sizes_of(shape, run.variables)) count *= std::max<int64_t>(size, 1);
    return count <= most;
  });
}

int Builder::add(Step step) {
  program_.steps.push_back(std::move(step));
  return count() - 1;
}

int Builder::leaf(const Shape& shape, DType dtype, Leaf leaf, Role role) {
  const int k = add({.op = Op::Input,
                     .dtype = dtype,
                     .shape = shape,
                     .role = role,
                     .name = fmt::format("x{}", count())});
  program_.leaves[k] = std::move(leaf);
  return k;
}

int Builder::operand(const Shape& shape, DType dtype, Leaf leaf) {
  const bool fixed = std::ranges::all_of(shape, [](const Index& d) { return d->low == d->high; });
  const Role role = fixed && random_.chance(0.4) ? Role::Weight : Role::Input;
  return this->leaf(shape, dtype, std::move(leaf), role);
}

int Builder::constant(DType dtype, double value) {
  Step step{.op = Op::Constant, .dtype = dtype, .shape = {}};
  if (is_float(dtype)) {
    step.real = static_cast<double>(rounded(dtype, value));
  } else {
    step.integer = static_cast<int64_t>(value);
  }
  return add(std::move(step));
}

int Builder::full(const Shape& shape, DType dtype, double value) {
  return view(constant(dtype, value), shape, {});
}

int Builder::iota(const Shape& shape, DType dtype, const Index& expr) {
  return add({.op = Op::Iota, .dtype = dtype, .shape = shape, .map = {expr}});
}

int Builder::binary(Op op, int a, int b) {
  const bool compares = op == Op::LessThan || op == Op::Equal;
  return add(
      {.op = op, .dtype = compares ? DType::Bool : dtype(a), .shape = shape(a), .inputs = {a, b}});
}

int Builder::select(int which, int a, int b) {
  return add({.op = Op::Select, .dtype = dtype(a), .shape = shape(a), .inputs = {which, a, b}});
}

int Builder::cast(int x, DType to) {
  if (dtype(x) == to) return x;
  return add({.op = Op::Cast, .dtype = to, .shape = shape(x), .inputs = {x}});
}

int Builder::bitcast(int x, DType to) {
  return add({.op = Op::Bitcast, .dtype = to, .shape = shape(x), .inputs = {x}});
}

int Builder::view(int x, const Shape& shape, Shape map) {
  return add(
      {.op = Op::View, .dtype = dtype(x), .shape = shape, .inputs = {x}, .map = std::move(map)});
}

int Builder::reduce(int x, Reducer reducer) {
  Shape rest = shape(x);
  rest.pop_back();
  return add({.op = Op::Reduce,
              .dtype = dtype(x),
              .shape = std::move(rest),
              .inputs = {x},
              .reducer = reducer});
}

int Builder::scan(int x, Reducer reducer) {
  return add(
      {.op = Op::Scan, .dtype = dtype(x), .shape = shape(x), .inputs = {x}, .reducer = reducer});
}

int Builder::gather(int data, int index) {
  Shape result = shape(index);
  result.insert(result.end(), shape(data).begin() + 1, shape(data).end());
  return add({.op = Op::Gather,
              .dtype = dtype(data),
              .shape = std::move(result),
              .inputs = {data, index}});
}

int Builder::scatter(int dest, int index, int values, std::optional<Reducer> reducer) {
  return add({.op = Op::Scatter,
              .dtype = dtype(dest),
              .shape = shape(dest),
              .inputs = {dest, index, values},
              .reducer = reducer});
}

int Builder::add_times(int x, int y, double factor) {
  return binary(Op::Add, x, binary(Op::Mul, y, full(shape(y), dtype(y), factor)));
}

int Builder::repeat_last(int x, const Index& extent) {
  Shape wide = shape(x);
  const Shape map = axes(wide);
  wide.push_back(extent);
  return view(x, wide, map);
}

Shape axes(const Shape& shape) {
  Shape result;
  for (size_t k = 0; k < shape.size(); ++k) result.push_back(axis(static_cast<int>(k), shape[k]));
  return result;
}

}  // namespace luminal::tests::foreign

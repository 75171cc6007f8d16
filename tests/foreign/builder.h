// Builder: adds steps to a program, with the shapes and dtypes that follow.
#pragma once

#include <string>

#include "tests/foreign/program.h"
#include "tests/foreign/random.h"

namespace luminal::tests::foreign {

class Builder {
 public:
  Builder(Program& program, Random& random) : program_(program), random_(random) {}

  Program& program() { return program_; }
  Random& random() { return random_; }
  const Step& step(int k) const { return program_.steps[static_cast<size_t>(k)]; }
  const Shape& shape(int k) const { return step(k).shape; }
  DType dtype(int k) const { return step(k).dtype; }
  int count() const { return static_cast<int>(program_.steps.size()); }
  // Whether a tensor of this shape is small enough in all runs.
  bool fits(const Shape& shape, int64_t most) const;

  int leaf(const Shape& shape, DType dtype, Leaf leaf = {}, Role role = Role::Input);
  // An input, or a weight where its size is known.
  int operand(const Shape& shape, DType dtype, Leaf leaf = {});
  int constant(DType dtype, double value);
  int full(const Shape& shape, DType dtype, double value);
  int iota(const Shape& shape, DType dtype, const Index& expr);
  int unary(Op op, int x) {
    return add({.op = op, .dtype = dtype(x), .shape = shape(x), .inputs = {x}});
  }
  int binary(Op op, int a, int b);
  int select(int which, int a, int b);
  int cast(int x, DType to);
  int bitcast(int x, DType to);
  int view(int x, const Shape& shape, Shape map);
  int reduce(int x, Reducer reducer);
  int scan(int x, Reducer reducer);
  int gather(int data, int index);
  int scatter(int dest, int index, int values, std::optional<Reducer> reducer);

  // x + factor · y
  int add_times(int x, int y, double factor);
  // A tensor without its last dim, repeated along a new last one.
  int repeat_last(int x, const Index& extent);

  int add(Step step);
  Step& edit(int k) { return program_.steps[static_cast<size_t>(k)]; }

 private:
  Program& program_;
  Random& random_;
};

// i0, i1, … of a shape.
Shape axes(const Shape& shape);

}  // namespace luminal::tests::foreign

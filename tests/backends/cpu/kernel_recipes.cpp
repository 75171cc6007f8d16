#include "tests/backends/cpu/kernel_recipes.h"

#include <algorithm>

#include "tests/backends/cpu/kernel_builder.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;
constexpr DType F = DType::F32;

// Shorthand for f32 arithmetic in a stage.
struct Maths {
  StageBuilder s;
  InstId c(double x) { return s.constant(F, x); }
  InstId add(InstId a, InstId b) { return s.op(Op::Add, F, {a, b}); }
  InstId mul(InstId a, InstId b) { return s.op(Op::Mul, F, {a, b}); }
  InstId recip(InstId a) { return s.op(Op::Recip, F, {a}); }
  InstId sqrt(InstId a) { return s.op(Op::Sqrt, F, {a}); }
  InstId exp2(InstId a) { return s.op(Op::Exp2, F, {a}); }
  InstId neg(InstId a) { return mul(a, c(-1)); }
  InstId wide(InstId a, DType from) { return from == F ? a : s.op(Op::Cast, F, {a}); }
  InstId narrow(InstId a, DType to) { return to == F ? a : s.op(Op::Cast, to, {a}); }
};

constexpr double kLog2E = 1.4426950408889634;

kernel::Kernel softmax(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.inner(n);
  const LoopId inner = b.last_loop();
  Expr r = b.inner(n);
  const LoopId reduced = b.last_loop();
  {
    Maths m{b.stage(F, {}, kernel::Reduction{Reducer::Max, reduced})};
    m.wide(m.s.load(b.k, x, {i, r}), t);
  }
  {
    Maths m{b.stage(F, {inner})};
    InstId v = m.wide(m.s.load(b.k, x, {i, j}), t);
    m.exp2(m.mul(m.add(v, m.neg(m.s.local(F, StageId{0}))), m.c(kLog2E)));
  }
  {
    Maths m{b.stage(F, {}, kernel::Reduction{Reducer::Sum, reduced})};
    m.s.local(F, StageId{1}, {r});
  }
  {
    Maths m{b.stage(t, {inner})};
    m.narrow(m.mul(m.s.local(F, StageId{1}, {j}), m.recip(m.s.local(F, StageId{2}))), t);
    b.output(y, {i, j});
  }
  return b.done();
}

// Layer norm (with mean) or RMS norm, of x or of x + residual.
kernel::Kernel norm(DType t, Expr rows, Expr n, bool centered, bool residual) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), z = residual ? b.param(t, {rows, n}) : ParamId();
  ParamId w = b.param(t, {n}), bias = centered ? b.param(t, {n}) : ParamId();
  ParamId y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.inner(n);
  const LoopId inner = b.last_loop();
  Expr r = b.inner(n);
  const LoopId reduced = b.last_loop();
  auto input = [&](Maths& m, Expr k) {
    InstId v = m.wide(m.s.load(b.k, x, {i, k}), t);
    return residual ? m.add(v, m.wide(m.s.load(b.k, z, {i, k}), t)) : v;
  };
  auto mean_of = [&](Maths& m, InstId sum) { return m.mul(sum, m.recip(m.s.iota(F, n))); };
  const StageId sum{0}, square{centered ? 1u : 0u};
  if (centered) {
    Maths m{b.stage(F, {}, kernel::Reduction{Reducer::Sum, reduced})};
    input(m, r);
  }
  {
    Maths m{b.stage(F, {}, kernel::Reduction{Reducer::Sum, reduced})};
    InstId v = input(m, r);
    if (centered) v = m.add(v, m.neg(mean_of(m, m.s.local(F, sum))));
    m.mul(v, v);
  }
  {
    Maths m{b.stage(t, {inner})};
    InstId v = input(m, j);
    if (centered) v = m.add(v, m.neg(mean_of(m, m.s.local(F, sum))));
    InstId scale = m.recip(m.sqrt(m.add(mean_of(m, m.s.local(F, square)), m.c(1e-5))));
    v = m.mul(m.mul(v, scale), m.wide(m.s.load(b.k, w, {j}), t));
    if (centered) v = m.add(v, m.wide(m.s.load(b.k, bias, {j}), t));
    m.narrow(v, t);
    b.output(y, {i, j});
  }
  return b.done();
}

// x · Φ(x) with Abramowitz and Stegun's erf in primitives.
kernel::Kernel gelu(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.outer(n);
  Maths m{b.stage(t)};
  InstId v = m.wide(m.s.load(b.k, x, {i, j}), t);
  InstId u = m.mul(v, m.c(0.7071067811865476));
  InstId negative = m.s.op(Op::LessThan, DType::Bool, {u, m.c(0)});
  InstId a = m.s.op(Op::Select, F, {negative, m.neg(u), u});
  InstId s = m.recip(m.add(m.c(1), m.mul(m.c(0.3275911), a)));
  InstId p = m.c(1.061405429);
  for (double c : {-1.453152027, 1.421413741, -0.284496736, 0.254829592})
    p = m.add(m.mul(p, s), m.c(c));
  InstId e = m.exp2(m.mul(m.mul(a, a), m.c(-kLog2E)));
  InstId erf = m.add(m.c(1), m.neg(m.mul(m.mul(p, s), e)));
  erf = m.s.op(Op::Select, F, {negative, m.neg(erf), erf});
  m.narrow(m.mul(m.mul(v, m.c(0.5)), m.add(m.c(1), erf)), t);
  b.output(y, {i, j});
  return b.done();
}

kernel::Kernel swiglu(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId g = b.param(t, {rows, n}), u = b.param(t, {rows, n}), y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.outer(n);
  Maths m{b.stage(t)};
  InstId v = m.wide(m.s.load(b.k, g, {i, j}), t);
  InstId sigmoid = m.recip(m.add(m.c(1), m.exp2(m.mul(v, m.c(-kLog2E)))));
  m.narrow(m.mul(m.mul(v, sigmoid), m.wide(m.s.load(b.k, u, {i, j}), t)), t);
  b.output(y, {i, j});
  return b.done();
}

// Heads of 128: out = x · cos + rotate_half(x) · sin.
kernel::Kernel rotary(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  const int64_t d = 128;
  Expr heads = n / Expr(d);
  ParamId x = b.param(t, {rows, heads, d}), cos = b.param(t, {rows, d}),
          sin = b.param(t, {rows, d});
  ParamId y = b.param(t, {rows, heads, d}, true);
  Expr i = b.outer(rows), h = b.outer(heads), j = b.outer(d);
  Maths m{b.stage(t)};
  InstId v = m.wide(m.s.load(b.k, x, {i, h, j}), t);
  InstId other = m.wide(m.s.load(b.k, x, {i, h, (j + Expr(d / 2)) % Expr(d)}), t);
  InstId first = m.s.iota(DType::Bool, j < Expr(d / 2));
  InstId rotated = m.s.op(Op::Select, F, {first, m.neg(other), other});
  InstId c = m.wide(m.s.load(b.k, cos, {i, j}), t), s = m.wide(m.s.load(b.k, sin, {i, j}), t);
  m.narrow(m.add(m.mul(v, c), m.mul(rotated, s)), t);
  b.output(y, {i, h, j});
  return b.done();
}

kernel::Kernel add(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), z = b.param(t, {rows, n}), y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.outer(n);
  auto s = b.stage(t);
  InstId a = s.load(b.k, x, {i, j}), c = s.load(b.k, z, {i, j});
  s.op(Op::Add, t, {a, c});
  b.output(y, {i, j});
  return b.done();
}

kernel::Kernel unary(Op op, DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), y = b.param(t, {rows, n}, true);
  Expr i = b.outer(rows), j = b.outer(n);
  auto s = b.stage(t);
  s.op(op, t, {s.load(b.k, x, {i, j})});
  b.output(y, {i, j});
  return b.done();
}

kernel::Kernel reduce(Reducer reducer, DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), y = b.param(t, {rows}, true);
  Expr i = b.outer(rows), r = b.inner(n);
  auto s = b.stage(t, {}, kernel::Reduction{reducer, b.last_loop()});
  s.load(b.k, x, {i, r});
  b.output(y, {i});
  return b.done();
}

kernel::Kernel sum_columns(DType t, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(t, {rows, n}), y = b.param(t, {n}, true);
  Expr i = b.outer(n), r = b.inner(rows);
  auto s = b.stage(t, {}, kernel::Reduction{Reducer::Sum, b.last_loop()});
  s.load(b.k, x, {r, i});
  b.output(y, {i});
  return b.done();
}

}  // namespace

const std::vector<std::pair<std::string, Recipe>>& recipes() {
  static const std::vector<std::pair<std::string, Recipe>> list = {
      {"add", add},
      {"softmax", softmax},
      {"layer_norm", [](DType t, Expr r, Expr n) { return norm(t, r, n, true, false); }},
      {"rms_norm", [](DType t, Expr r, Expr n) { return norm(t, r, n, false, false); }},
      {"add_rms_norm", [](DType t, Expr r, Expr n) { return norm(t, r, n, false, true); }},
      {"gelu", gelu},
      {"swiglu", swiglu},
      {"rotary", rotary},
      {"exp2", [](DType t, Expr r, Expr n) { return unary(Op::Exp2, t, r, n); }},
      {"log2", [](DType t, Expr r, Expr n) { return unary(Op::Log2, t, r, n); }},
      {"sin", [](DType t, Expr r, Expr n) { return unary(Op::Sin, t, r, n); }},
      {"sum", [](DType t, Expr r, Expr n) { return reduce(Reducer::Sum, t, r, n); }},
      {"max", [](DType t, Expr r, Expr n) { return reduce(Reducer::Max, t, r, n); }},
      {"sum_columns", sum_columns},
  };
  return list;
}

}  // namespace luminal::backends::cpu

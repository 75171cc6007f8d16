#include "tests/foreign/oracle.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/foreign/scalars.h"

namespace luminal::tests::foreign {
namespace {

// Values are kept as the op made them: `held` is what memory holds of them. A product of f32, and
// whatever is of 16 bits, may go into the next Add, Mul or Sum before it is rounded.
Real held(DType dtype, const Real& x) { return rounded(dtype, x); }
Real passed_on(DType dtype, const Real& x) { return hull(x, rounded(dtype, x)); }

DType computed_in(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

// What a kernel has of an exact result: 16-bit floats are f32 until they are stored.
Real kept(DType dtype, const Real& exact) {
  return is_half(dtype) ? hull(exact, rounded(DType::F32, exact)) : rounded(dtype, exact);
}

Whole unknown() { return {0, false}; }

int64_t compute_whole(Op op, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case Op::Add:
      return dtype == DType::Bool ? (a | b) : wrapped(dtype, x + y);
    case Op::Mul:
      return wrapped(dtype, x * y);
    case Op::Mod:
      return b == 0 ? a : b == -1 ? 0 : a % b;
    case Op::IntDiv:
      return b == 0 ? 0 : b == -1 ? wrapped(dtype, 0 - x) : a / b;
    case Op::BitAnd:
      return a & b;
    default:
      throw std::logic_error("not an op of integers");
  }
}

Whole fold_whole(Reducer reducer, DType dtype, const Whole& a, const Whole& b) {
  if (!a.known || !b.known) return unknown();
  switch (reducer) {
    case Reducer::Sum:
      return {compute_whole(Op::Add, dtype, a.value, b.value), true};
    case Reducer::Prod:
      return {compute_whole(Op::Mul, dtype, a.value, b.value), true};
    case Reducer::Max:
      return {std::max(a.value, b.value), true};
  }
  return unknown();
}

Whole identity_of(Reducer reducer, DType dtype) {
  switch (reducer) {
    case Reducer::Sum:
      return {0, true};
    case Reducer::Prod:
      return {1, true};
    case Reducer::Max:
      return {least_of(dtype), true};
  }
  return unknown();
}

// Goes through all positions of a shape in row-major order.
class Positions {
 public:
  explicit Positions(std::vector<int64_t> sizes)
      : sizes_(std::move(sizes)), at_(sizes_.size()), more_(count_of(sizes_) > 0) {}
  bool more() const { return more_; }
  const std::vector<int64_t>& at() const { return at_; }
  void next() {
    for (size_t k = sizes_.size(); k-- > 0;) {
      if (++at_[k] < sizes_[k]) return;
      at_[k] = 0;
    }
    more_ = false;
  }

 private:
  std::vector<int64_t> sizes_, at_;
  bool more_;
};

class Evaluation {
 public:
  Evaluation(const Program& program, const ProgramRun& run, const std::map<int, Tensor>& states)
      : program_(program), run_(run), states_(states) {}

  std::vector<Tensor> all() {
    for (size_t k = 0; k < program_.steps.size(); ++k) {
      const Step& step = program_.steps[k];
      values_.push_back({.dtype = step.dtype, .sizes = sizes_of(step.shape, run_.variables)});
      constant_.push_back(step.op == Op::Constant || step.op == Op::Iota);
      if (!step.inputs.empty()) {
        constant_.back() =
            std::ranges::all_of(step.inputs, [&](int i) { return constant_[at(i)]; });
      }
      compute(k, values_.back());
      if (program_.numerics >= Numerics::Finite && step.op != Op::Input) loosen(values_.back());
    }
    for (Tensor& value : values_) {
      for (Real& x : value.reals) x = held(value.dtype, x);
    }
    return std::move(values_);
  }

 private:
  static size_t at(int step) { return static_cast<size_t>(step); }
  const Tensor& input(const Step& step, int k) const { return values_[at(step.inputs[at(k)])]; }
  // Of a float dtype, as memory holds it.
  Real read(const Step& step, int k, size_t element) const {
    const Tensor& tensor = input(step, k);
    return held(tensor.dtype, tensor.reals[element]);
  }

  // Rules of class `finite` promise nothing where infinities are, nor the sign of a zero.
  static void loosen(Tensor& value) {
    for (Real& x : value.reals) {
      if (x.nan || std::isinf(x.low) || std::isinf(x.high)) x = anything();
      const Real stored = held(value.dtype, x);
      if (std::isinf(stored.low) || std::isinf(stored.high)) x = anything();
      if (x.low == 0) x.low = -0.0L;
      if (x.high == 0) x.high = 0.0L;
    }
  }

  void compute(size_t k, Tensor& result) {
    const Step& step = program_.steps[k];
    switch (step.op) {
      case Op::Input:
        return leaf(k, result);
      case Op::Constant:
        if (is_float(step.dtype)) {
          result.reals.push_back(point(step.real));
        } else {
          result.wholes.push_back({step.integer, true});
        }
        return;
      case Op::Iota:
        return iota(step, result);
      case Op::Exp2:
      case Op::Log2:
      case Op::Sin:
      case Op::Recip:
      case Op::Sqrt:
        return unary(step, result);
      case Op::Cast:
        return cast(step, result);
      case Op::Bitcast:
        return bitcast(step, result);
      case Op::View:
        return view(step, result);
      case Op::Add:
      case Op::Mul:
      case Op::Mod:
      case Op::IntDiv:
      case Op::BitAnd:
        return arithmetic(step, result);
      case Op::LessThan:
      case Op::Equal:
        return comparison(step, result);
      case Op::Select:
        return select(step, result);
      case Op::Reduce:
      case Op::Scan:
        return is_float(step.dtype) ? reduce_reals(step, result) : reduce_wholes(step, result);
      case Op::Gather:
        return gather(step, result);
      case Op::Scatter:
        return scatter(step, result);
      case Op::Custom:
        throw std::logic_error("custom ops aren't generated");
    }
  }

  void leaf(size_t k, Tensor& result) {
    const Step& step = program_.steps[k];
    const auto given = run_.leaves.find(step.name);
    result = given == run_.leaves.end() ? states_.at(static_cast<int>(k))
                                        : decoded(step.dtype, result.sizes, given->second);
  }

  void iota(const Step& step, Tensor& result) {
    for (Positions p(result.sizes); p.more(); p.next()) {
      const int64_t value = value_of(*step.map[0], run_.variables, p.at());
      if (is_float(step.dtype)) {
        result.reals.push_back(point(rounded(step.dtype, static_cast<long double>(value))));
      } else {
        result.wholes.push_back({wrapped(step.dtype, static_cast<uint64_t>(value)), true});
      }
    }
  }

  // The operand of `input` where rules of class `finite` make both ops vanish.
  const Tensor* undone(const Step& step, Op inner) const {
    const Step& before = program_.steps[at(step.inputs[0])];
    const bool may = program_.numerics >= Numerics::Finite && before.op == inner;
    return may ? &values_[at(before.inputs[0])] : nullptr;
  }

  void unary(const Step& step, Tensor& result) {
    const DType in = computed_in(step.dtype);
    const Op inverse = step.op == Op::Exp2 ? Op::Log2 : step.op == Op::Log2 ? Op::Exp2 : step.op;
    const Tensor* vanished =
        step.op == Op::Sin || step.op == Op::Sqrt ? nullptr : undone(step, inverse);
    for (size_t e = 0; e < input(step, 0).count(); ++e) {
      const Real x = read(step, 0, e);
      Real y;
      switch (step.op) {
        case Op::Exp2:
          y = exp2_of(in, x);
          break;
        case Op::Log2:
          y = log2_of(in, x);
          break;
        case Op::Sin:
          y = sin_of(in, x);
          break;
        case Op::Recip:
          y = reciprocal_of(x);
          break;
        default:
          y = root_of(x);
          break;
      }
      y = kept(step.dtype, y);
      if (vanished != nullptr) y = hull(y, held(step.dtype, vanished->reals[e]));
      result.reals.push_back(y);
    }
  }

  void cast(const Step& step, Tensor& result) {
    const Tensor& from = input(step, 0);
    for (size_t e = 0; e < from.count(); ++e) {
      if (is_float(step.dtype)) {
        if (!is_float(from.dtype)) {
          const Whole x = from.wholes[e];
          result.reals.push_back(x.known ? point(static_cast<long double>(x.value)) : anything());
          if (!is_half(step.dtype)) result.reals.back() = held(step.dtype, result.reals.back());
          continue;
        }
        const Real x = read(step, 0, e);
        result.reals.push_back(is_half(step.dtype) ? x : rounded(step.dtype, x));
      } else if (is_float(from.dtype)) {
        result.wholes.push_back(to_whole(step.dtype, read(step, 0, e)));
      } else {
        const Whole x = from.wholes[e];
        result.wholes.push_back({wrapped(step.dtype, static_cast<uint64_t>(x.value)), x.known});
      }
    }
  }

  static Whole to_whole(DType dtype, const Real& x) {
    if (dtype == DType::Bool) {
      if (x.is_nan() || x.low > 0 || x.high < 0) return {1, true};
      return x.low == 0 && x.high == 0 && !x.nan ? Whole{0, true} : unknown();
    }
    if (x.is_nan()) return {0, true};
    const int64_t low = truncated(dtype, x.low), high = truncated(dtype, x.high);
    const bool same = std::trunc(x.low) == std::trunc(x.high) ||
                      (x.low >= 0x1p63L && x.high >= 0x1p63L) ||
                      (x.low <= -0x1p63L && x.high <= -0x1p63L);
    return same && low == high && (!x.nan || low == 0) ? Whole{low, true} : unknown();
  }

  void bitcast(const Step& step, Tensor& result) {
    const Tensor& from = input(step, 0);
    for (size_t e = 0; e < from.count(); ++e) {
      Whole pattern = unknown();
      if (is_float(from.dtype)) {
        const Real x = read(step, 0, e);
        if (x.is_point()) {
          pattern = {static_cast<int64_t>(bits_of_float(from.dtype, x.low)), true};
        }
        if (x.is_nan() && is_float(step.dtype) && from.dtype == step.dtype) {
          result.reals.push_back(x);
          continue;
        }
      } else {
        pattern = from.wholes[e];
      }
      const auto raw = static_cast<uint64_t>(pattern.value);
      if (is_float(step.dtype)) {
        const uint64_t mask = bits(step.dtype) == 64 ? ~0ULL : (1ULL << bits(step.dtype)) - 1;
        result.reals.push_back(pattern.known ? point(float_of_bits(step.dtype, raw & mask))
                                             : anything());
      } else {
        result.wholes.push_back({wrapped(step.dtype, raw), pattern.known});
      }
    }
  }

  void view(const Step& step, Tensor& result) {
    const Tensor& from = input(step, 0);
    for (Positions p(result.sizes); p.more(); p.next()) {
      int64_t element = 0;
      for (size_t d = 0; d < from.sizes.size(); ++d) {
        const int64_t index = value_of(*step.map[d], run_.variables, p.at());
        if (index < 0 || index >= from.sizes[d]) throw std::domain_error("a map isn't total");
        element = element * from.sizes[d] + index;
      }
      copy(from, static_cast<size_t>(element), result);
    }
  }

  static void copy(const Tensor& from, size_t element, Tensor& to) {
    if (is_float(from.dtype)) {
      to.reals.push_back(from.reals[element]);
    } else {
      to.wholes.push_back(from.wholes[element]);
    }
  }

  // A step or, of views, what they show.
  const Step& behind_views(int k) const {
    const Step* step = &program_.steps[at(k)];
    while (step->op == Op::View) step = &program_.steps[at(step->inputs[0])];
    return *step;
  }
  bool multiplies_constant(const Step& step) const {
    return step.op == Op::Mul && (constant_[at(step.inputs[0])] || constant_[at(step.inputs[1])]);
  }
  // Whether factors may meet, by rules of class `reassociating`.
  bool factors_may_meet(const Step& step) const {
    return program_.numerics >= Numerics::Reassociating && multiplies_constant(step) &&
           (multiplies_constant(behind_views(step.inputs[0])) ||
            multiplies_constant(behind_views(step.inputs[1])));
  }

  // Whether an operand is a constant that changes nothing, so that the op may vanish and the other
  // operand, unrounded as it may be, is what is left.
  bool is_neutral(const Step& step, int k, size_t element) const {
    const Real& x = input(step, k).reals[element];
    const bool neutral = step.op == Op::Mul ? x.low == 1 && x.high == 1 : x.low == 0 && x.high == 0;
    return constant_[at(step.inputs[at(k)])] && neutral;
  }
  Real with_operands_left(const Step& step, size_t element, Real value) const {
    for (int k : {0, 1}) {
      if (is_neutral(step, k, element)) value = hull(value, input(step, 1 - k).reals[element]);
    }
    return value;
  }

  void arithmetic(const Step& step, Tensor& result) {
    const Tensor &a = input(step, 0), &b = input(step, 1);
    const bool meet = is_float(step.dtype) && factors_may_meet(step);
    for (size_t e = 0; e < a.count(); ++e) {
      if (!is_float(step.dtype)) {
        const Whole x = a.wholes[e], y = b.wholes[e];
        const bool known = x.known && y.known;
        result.wholes.push_back(
            known ? Whole{compute_whole(step.op, step.dtype, x.value, y.value), true} : unknown());
        continue;
      }
      if (step.op == Op::Mod) {
        result.reals.push_back(rest_of(read(step, 0, e), read(step, 1, e)));
        continue;
      }
      // A product of f32 or f64 goes into sums unrounded, not into products.
      const bool rounds = step.op == Op::Mul && !is_half(step.dtype);
      const Real x = rounds ? read(step, 0, e) : passed_on(a.dtype, a.reals[e]);
      const Real y = rounds ? read(step, 1, e) : passed_on(b.dtype, b.reals[e]);
      if (step.op == Op::Add) {
        result.reals.push_back(with_operands_left(step, e, kept(step.dtype, sum_of(x, y))));
        continue;
      }
      Real product = product_of(x, y);
      if (meet) product = widened(product, 2 * roundoff(step.dtype));
      if (step.magnitude) product = magnitude_of(product);
      // Not rounded here: a sum may take it in as it is.
      if (is_half(step.dtype)) product = kept(step.dtype, product);
      result.reals.push_back(with_operands_left(step, e, product));
    }
  }

  void comparison(const Step& step, Tensor& result) {
    const Tensor &a = input(step, 0), &b = input(step, 1);
    for (size_t e = 0; e < a.count(); ++e) {
      if (is_float(a.dtype)) {
        const Real x = read(step, 0, e), y = read(step, 1, e);
        int truth = step.op == Op::LessThan ? less_than(x, y) : equal(x, y);
        // Whatever it is, it equals itself.
        if (step.inputs[0] == step.inputs[1] && !x.nan) truth = step.op == Op::Equal ? 1 : 0;
        result.wholes.push_back(truth < 0 ? unknown() : Whole{truth, true});
        continue;
      }
      const Whole x = a.wholes[e], y = b.wholes[e];
      const bool truth = step.op == Op::LessThan ? x.value < y.value : x.value == y.value;
      result.wholes.push_back(x.known && y.known ? Whole{truth ? 1 : 0, true} : unknown());
    }
  }

  void select(const Step& step, Tensor& result) {
    const Tensor& condition = input(step, 0);
    for (size_t e = 0; e < condition.count(); ++e) {
      const Whole which = condition.wholes[e];
      if (is_float(step.dtype)) {
        const Real a = read(step, 1, e), b = read(step, 2, e);
        Real value = !which.known ? hull(a, b) : which.value != 0 ? a : b;
        // Where both sides are one, or the condition is a constant, there may be no choice left.
        const bool vanishes = step.inputs[1] == step.inputs[2] || constant_[at(step.inputs[0])];
        const int side = which.value != 0 ? 1 : 2;
        if (vanishes && which.known) value = hull(value, input(step, side).reals[e]);
        result.reals.push_back(value);
        continue;
      }
      const Whole a = input(step, 1).wholes[e], b = input(step, 2).wholes[e];
      const bool same = a.known && b.known && a.value == b.value;
      result.wholes.push_back(which.known ? (which.value != 0 ? a : b) : same ? a : unknown());
    }
  }

  void reduce_wholes(const Step& step, Tensor& result) {
    const Tensor& from = input(step, 0);
    const auto length = static_cast<size_t>(from.sizes.back());
    const auto rows =
        static_cast<size_t>(count_of(std::span(from.sizes).first(from.sizes.size() - 1)));
    for (size_t row = 0; row < rows; ++row) {
      Whole value = identity_of(*step.reducer, step.dtype);
      for (size_t k = 0; k < length; ++k) {
        value = fold_whole(*step.reducer, step.dtype, value, from.wholes[row * length + k]);
        if (step.op == Op::Scan) result.wholes.push_back(value);
      }
      if (step.op == Op::Reduce) result.wholes.push_back(value);
    }
  }

  void reduce_reals(const Step& step, Tensor& result) {
    const Tensor& from = input(step, 0);
    const auto length = static_cast<size_t>(from.sizes.back());
    const auto rows =
        static_cast<size_t>(count_of(std::span(from.sizes).first(from.sizes.size() - 1)));
    const bool takes_products = *step.reducer == Reducer::Sum;
    for (size_t row = 0; row < rows; ++row) {
      Accumulator total(*step.reducer, computed_in(step.dtype));
      for (size_t k = 0; k < length; ++k) {
        const Real& x = from.reals[row * length + k];
        total.add(takes_products ? passed_on(from.dtype, x) : held(from.dtype, x));
        if (step.op == Op::Scan) result.reals.push_back(finished(step, total, row));
      }
      if (step.op == Op::Reduce) result.reals.push_back(finished(step, total, row));
      // Of one element it is a view.
      if (length == 1) result.reals.back() = hull(result.reals.back(), from.reals[row]);
    }
  }

  Real finished(const Step& step, const Accumulator& total, size_t row) const {
    long double room = 0;
    if (step.room > 0) {
      const long double of =
          step.room_of < 0 ? total.magnitude() : values_[at(step.room_of)].reals[row].high;
      room = step.room * roundoff(computed_in(step.dtype)) * of;
    }
    const Real value = kept(step.dtype, total.result(room));
    const bool infinite = value.nan || std::isinf(value.low) || std::isinf(value.high);
    return program_.loose_infinities && infinite && *step.reducer == Reducer::Sum ? anything()
                                                                                  : value;
  }

  void gather(const Step& step, Tensor& result) {
    const Tensor &data = input(step, 0), &index = input(step, 1);
    const auto row = static_cast<size_t>(count_of(std::span(data.sizes).subspan(1)));
    for (const Whole& which : index.wholes) {
      const bool inside = which.known && which.value >= 0 && which.value < data.sizes[0];
      if (which.known && !inside && row > 0) throw std::domain_error("a gather reads outside");
      for (size_t k = 0; k < row; ++k) {
        if (inside) {
          copy(data, static_cast<size_t>(which.value) * row + k, result);
        } else if (is_float(data.dtype)) {
          result.reals.push_back(anything());
        } else {
          result.wholes.push_back(unknown());
        }
      }
    }
  }

  void scatter(const Step& step, Tensor& result) {
    const Tensor &dest = input(step, 0), &index = input(step, 1), &values = input(step, 2);
    result = dest;
    if (index.wholes.empty()) return;  // the op may vanish: what is left is the unrounded operand
    for (Real& x : result.reals) x = held(dest.dtype, x);
    const auto row = static_cast<size_t>(count_of(std::span(dest.sizes).subspan(1)));
    std::vector<std::vector<Real>> terms(result.reals.size());
    for (size_t r = 0; r < index.wholes.size(); ++r) {
      const Whole which = index.wholes[r];
      if (!which.known) return forget(result);
      if (which.value < 0 || which.value >= dest.sizes[0]) continue;  // left out
      for (size_t k = 0; k < row; ++k) {
        const size_t to = static_cast<size_t>(which.value) * row + k, from = r * row + k;
        if (is_float(dest.dtype)) {
          const Real x = held(dest.dtype, values.reals[from]);
          if (step.reducer) {
            terms[to].push_back(x);
          } else {
            result.reals[to] = x;
          }
        } else {
          result.wholes[to] = step.reducer ? fold_whole(*step.reducer, dest.dtype,
                                                        result.wholes[to], values.wholes[from])
                                           : values.wholes[from];
        }
      }
    }
    for (size_t k = 0; k < terms.size(); ++k) combine(step, terms[k], result.reals[k]);
  }

  // Of 16 bits, sums may be rounded at each term.
  static void combine(const Step& step, const std::vector<Real>& terms, Real& into) {
    if (terms.empty()) return;
    Accumulator total(*step.reducer, step.dtype);
    total.add(into);
    for (const Real& term : terms) total.add(term);
    into = held(step.dtype, total.result());
  }

  static void forget(Tensor& tensor) {
    for (Real& x : tensor.reals) x = anything();
    for (Whole& x : tensor.wholes) x = unknown();
  }

  const Program& program_;
  const ProgramRun& run_;
  const std::map<int, Tensor>& states_;
  std::vector<Tensor> values_;
  std::vector<bool> constant_;  // steps that depend on no leaf
};

}  // namespace

std::vector<Tensor> evaluate(const Program& program, const ProgramRun& run,
                             const std::map<int, Tensor>& states) {
  return Evaluation(program, run, states).all();
}

}  // namespace luminal::tests::foreign

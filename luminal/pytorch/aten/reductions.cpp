// Reductions, softmax and scans.
#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

Tensor in_dtype(const Tensor& x, std::optional<DType> dtype) {
  return dtype && *dtype != x.dtype() ? x.cast(*dtype) : x;
}

// Named so that overloads are told apart.
using Reduce = Tensor(const Tensor&, const Axes&, const ReduceOptions&);
using Arg = Tensor(const Tensor&, std::optional<int>, const ReduceOptions&);
using Deviation = Tensor(const Tensor&, const Axes&, const VarOptions&);

template <Reduce* kReduce>
Values reduced(const Arguments& of) {
  return {kReduce(in_dtype(of.tensor(0), of.maybe_dtype(3)), of.axes(1), {.keepdim = of.flag(2)})};
}

template <Reduce* kReduce>
Values reduced_all(const Arguments& of) {
  return {kReduce(in_dtype(of.tensor(0), of.maybe_dtype(1)), Axes(), {})};
}

template <Reduce* kReduce>
Values of_axes(const Arguments& of) {
  return {kReduce(of.tensor(0), of.axes(1), {.keepdim = of.flag(2)})};
}

template <Reduce* kReduce, Arg* kArg>
Values with_places(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int axis = of.integer(1);
  const ReduceOptions options{.keepdim = of.flag(2)};
  return {kReduce(x, axis, options), kArg(x, axis, options)};
}

template <Arg* kArg>
Values place(const Arguments& of) {
  return {kArg(of.tensor(0), of.maybe_integer(1), {.keepdim = of.flag(2)})};
}

int correction_of(const Arguments& of, size_t i) { return of.is_none(i) ? 1 : of.integer(i); }

template <Deviation* kReduce>
Values deviation(const Arguments& of) {
  return {kReduce(of.tensor(0), of.axes(1),
                  {.correction = correction_of(of, 2), .keepdim = of.flag(3)})};
}

Values var_and_mean(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Axes axes = of.axes(1);
  return {var(x, axes, {.correction = correction_of(of, 2), .keepdim = of.flag(3)}),
          mean(x, axes, {.keepdim = of.flag(3)})};
}

template <auto kSoftmax>
Values softmax_in(const Arguments& of) {
  const Tensor x = in_dtype(of.tensor(0), of.maybe_dtype(2));
  if (x.rank() == 0) return {kSoftmax(x.reshape({1}), 0).reshape({})};
  return {kSoftmax(x, of.integer(1))};
}

template <auto kSoftmax>
Values core_softmax(const Arguments& of) {
  const Tensor x = of.flag(2) ? of.tensor(0).cast(DType::F32) : of.tensor(0);
  if (x.rank() == 0) return {kSoftmax(x.reshape({1}), 0).reshape({})};
  return {kSoftmax(x, of.integer(1))};
}

template <auto kScan>
Values scanned(const Arguments& of) {
  const Tensor x = in_dtype(of.tensor(0), of.maybe_dtype(2));
  return {x.rank() == 0 ? x : kScan(x, of.integer(1))};
}

Values deviation_and_mean(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Axes axes = of.axes(1);
  return {stddev(x, axes, {.correction = correction_of(of, 2), .keepdim = of.flag(3)}),
          mean(x, axes, {.keepdim = of.flag(3)})};
}

template <Deviation* kReduce>
Values unbiased(const Arguments& of) {
  return {
      kReduce(of.tensor(0), of.axes(1), {.correction = of.flag(2) ? 1 : 0, .keepdim = of.flag(3)})};
}

Values extremes(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Axes axes = of.is_none(1) ? Axes() : Axes(of.integer(1));
  const ReduceOptions options{.keepdim = of.flag(2)};
  return {min(x, axes, options), max(x, axes, options)};
}

Values counted(const Arguments& of) {
  return {sum(ne(of.tensor(0), 0).cast(DType::I64), of.axes(1))};
}

Values sum_of_known(const Arguments& of) {
  const Tensor x = in_dtype(of.tensor(0), of.maybe_dtype(3));
  const Tensor known = is_float(x.dtype()) ? where(isnan(x), 0.0, x) : x;
  return {sum(known, of.axes(1), {.keepdim = of.flag(2)})};
}

constexpr OpEntry kReductionsOps[] = {
    {"aten.sum.dim_IntList", "self, dim, keepdim=False, dtype=None", reduced<sum>},
    {"aten.sum.default", "self, dtype=None", reduced_all<sum>},
    {"aten.mean.dim", "self, dim, keepdim=False, dtype=None", reduced<mean>},
    {"aten.mean.default", "self, dtype=None", reduced_all<mean>},
    {"aten.prod.dim_int", "self, dim, keepdim=False, dtype=None", reduced<prod>},
    {"aten.prod.default", "self, dtype=None", reduced_all<prod>},
    {"aten.amax.default", "self, dim=[], keepdim=False", of_axes<max>},
    {"aten.amin.default", "self, dim=[], keepdim=False", of_axes<min>},
    {"aten.max.default", "self", [](const Arguments& of) -> Values { return {max(of.tensor(0))}; }},
    {"aten.min.default", "self", [](const Arguments& of) -> Values { return {min(of.tensor(0))}; }},
    {"aten.max.dim", "self, dim, keepdim=False", with_places<max, argmax>},
    {"aten.min.dim", "self, dim, keepdim=False", with_places<min, argmin>},
    {"aten.argmax.default", "self, dim=None, keepdim=False", place<argmax>},
    {"aten.argmin.default", "self, dim=None, keepdim=False", place<argmin>},
    {"aten.any.default", "self", [](const Arguments& of) -> Values { return {any(of.tensor(0))}; }},
    {"aten.any.dim", "self, dim, keepdim=False", of_axes<any>},
    {"aten.any.dims", "self, dim=None, keepdim=False", of_axes<any>},
    {"aten.all.default", "self", [](const Arguments& of) -> Values { return {all(of.tensor(0))}; }},
    {"aten.all.dim", "self, dim, keepdim=False", of_axes<all>},
    {"aten.all.dims", "self, dim=None, keepdim=False", of_axes<all>},
    {"aten.aminmax.default", "self, dim=None, keepdim=False", extremes},
    {"aten.count_nonzero.default", "self, dim=None", counted},
    {"aten.count_nonzero.dim_IntList", "self, dim", counted},
    {"aten.nansum.default", "self, dim=None, keepdim=False, dtype=None", sum_of_known},
    {"aten.logsumexp.default", "self, dim, keepdim=False", of_axes<logsumexp>},
    {"aten.var.correction", "self, dim=None, correction=None, keepdim=False", deviation<var>},
    {"aten.std.correction", "self, dim=None, correction=None, keepdim=False", deviation<stddev>},
    {"aten.var.dim", "self, dim, unbiased=True, keepdim=False", unbiased<var>},
    {"aten.std.dim", "self, dim, unbiased=True, keepdim=False", unbiased<stddev>},
    {"aten.std_mean.correction", "self, dim=None, correction=None, keepdim=False",
     deviation_and_mean},
    {"aten.var_mean.correction", "self, dim=None, correction=None, keepdim=False", var_and_mean},
    {"aten.softmax.int", "self, dim, dtype=None", softmax_in<softmax>},
    {"aten.log_softmax.int", "self, dim, dtype=None", softmax_in<log_softmax>},
    {"aten._softmax.default", "self, dim, half_to_float", core_softmax<softmax>},
    {"aten._log_softmax.default", "self, dim, half_to_float", core_softmax<log_softmax>},
    {"aten.cumsum.default", "self, dim, dtype=None", scanned<cumsum>},
    {"aten.cumprod.default", "self, dim, dtype=None", scanned<cumprod>},
};

}  // namespace

std::span<const OpEntry> reduction_ops() { return kReductionsOps; }

}  // namespace luminal::pytorch

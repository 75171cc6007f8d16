// Reductions, scans, softmax.
#include "luminal/graph/composite/reduce.h"

#include "binding/binding.h"
#include "luminal/graph/composite/softmax.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

using Reduction = Tensor (*)(const Tensor&, const Axes&, const ReduceOptions&);
struct NamedReduction {
  const char* name;
  Reduction function;
};
constexpr NamedReduction kReductions[] = {
    {"sum", &sum}, {"prod", &prod}, {"max", &max},   {"min", &min},
    {"any", &any}, {"all", &all},   {"mean", &mean}, {"logsumexp", &logsumexp},
};

Axes axes_of(const std::optional<Axes>& axes) { return axes.value_or(Axes()); }

using Deviation = Tensor (*)(const Tensor&, const Axes&, const VarOptions&);
void add_deviation(Module& parts, const char* name, Deviation function) {
  parts.both(
      name,
      [function](const Tensor& x, const std::optional<Axes>& axes, int correction, bool keepdim) {
        return function(x, axes_of(axes), {.correction = correction, .keepdim = keepdim});
      },
      "axes"_a.none() = nb::none(), "correction"_a = 1, "keepdim"_a = false);
}

using ArgReduction = Tensor (*)(const Tensor&, std::optional<int>, const ReduceOptions&);
void add_arg(Module& parts, const char* name, ArgReduction function) {
  parts.both(
      name,
      [function](const Tensor& x, std::optional<int> axis, bool keepdim) {
        return function(x, axis, {.keepdim = keepdim});
      },
      "axis"_a.none() = nb::none(), "keepdim"_a = false);
}

}  // namespace

void add_reductions(Module& parts) {
  for (const NamedReduction& each : kReductions) {
    parts.both(
        each.name,
        [function = each.function](const Tensor& x, const std::optional<Axes>& axes, bool keepdim) {
          return function(x, axes_of(axes), {.keepdim = keepdim});
        },
        "axes"_a.none() = nb::none(), "keepdim"_a = false);
  }
  add_deviation(parts, "var", &var);
  add_deviation(parts, "std", &stddev);
  add_arg(parts, "argmax", &argmax);
  add_arg(parts, "argmin", &argmin);
  parts.both("cumsum", &cumsum, "axis"_a);
  parts.both("cumprod", &cumprod, "axis"_a);
  parts.both("cummax", &cummax, "axis"_a);
  parts.both("softmax", &softmax, "axis"_a);
  parts.both("log_softmax", &log_softmax, "axis"_a);
}

}  // namespace luminal::python

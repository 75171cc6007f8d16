// Functions of one tensor, element by element.
#include "luminal/graph/composite/math.h"

#include "binding/binding.h"
#include "luminal/graph/composite/activation.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

struct Named {
  const char* name;
  Tensor (*function)(const Tensor&);
};
constexpr Named kFunctions[] = {
    {"exp", &exp},
    {"exp2", &exp2},
    {"log", &log},
    {"log2", &log2},
    {"sin", &sin},
    {"cos", &cos},
    {"tan", &tan},
    {"sqrt", &sqrt},
    {"rsqrt", &rsqrt},
    {"erf", &erf},
    {"reciprocal", &reciprocal},
    {"square", &square},
    {"abs", &abs},
    {"neg", &neg},
    {"sign", &sign},
    {"floor", &floor},
    {"ceil", &ceil},
    {"round", &round},
    {"trunc", &trunc},
    {"isnan", &isnan},
    {"isinf", &isinf},
    {"isfinite", &isfinite},
    {"relu", &relu},
    {"silu", &silu},
    {"sigmoid", &sigmoid},
    {"tanh", &tanh},
};

GeluApproximation gelu_approximation(const std::string& name) {
  if (name == "none") return GeluApproximation::None;
  if (name == "tanh") return GeluApproximation::Tanh;
  throw nb::value_error("gelu: approximate is \"none\" or \"tanh\"");
}

}  // namespace

void add_math(Module& parts) {
  for (const Named& each : kFunctions) parts.both(each.name, each.function);
  parts.tensor.def("__abs__", &abs);
  parts.both(
      "gelu",
      [](const Tensor& x, const std::string& approximate) {
        return gelu(x, gelu_approximation(approximate));
      },
      "approximate"_a = "none");
  parts.both(
      "softplus",
      [](const Tensor& x, double beta, double threshold) {
        return softplus(x, {.beta = beta, .threshold = threshold});
      },
      "beta"_a = 1.0, "threshold"_a = 20.0);
  parts.both("leaky_relu", &leaky_relu, "negative_slope"_a = 0.01);
}

}  // namespace luminal::python

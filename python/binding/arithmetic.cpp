// Operators and functions of two tensors, of which one may be a number.
#include "luminal/graph/composite/arithmetic.h"

#include "binding/binding.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// `f` for two tensors, a tensor and a number, and, as a function, a number and a tensor.
template <typename F>
void add_function(Module& parts, const char* name, F f) {
  parts.tensor.def(name, [f](const Tensor& a, const Tensor& b) { return f(a, b); }, "b"_a);
  parts.tensor.def(name, [f](const Tensor& a, const Scalar& b) { return f(a, b); }, "b"_a);
  parts.module.def(name, [f](const Tensor& a, const Tensor& b) { return f(a, b); }, "a"_a, "b"_a);
  parts.module.def(name, [f](const Tensor& a, const Scalar& b) { return f(a, b); }, "a"_a, "b"_a);
  parts.module.def(name, [f](const Scalar& a, const Tensor& b) { return f(a, b); }, "a"_a, "b"_a);
}

template <typename F>
void add_operator(Module& parts, const char* name, F f) {
  parts.tensor.def(
      name, [f](const Tensor& a, const Tensor& b) { return f(a, b); }, nb::is_operator());
  parts.tensor.def(
      name, [f](const Tensor& a, const Scalar& b) { return f(a, b); }, nb::is_operator());
}

template <typename F>
void add_reversed(Module& parts, const char* name, F f) {
  parts.tensor.def(
      name, [f](const Tensor& b, const Scalar& a) { return f(a, b); }, nb::is_operator());
}

template <typename A, typename B>
void add_where(Module& parts) {
  parts.module.def(
      "where",
      [](const Tensor& condition, const A& a, const B& b) { return where(condition, a, b); },
      "condition"_a, "a"_a, "b"_a);
}

#define FUNCTION(name) \
  add_function(parts, #name, [](const auto& a, const auto& b) { return luminal::name(a, b); })
#define OPERATOR(name, expression) \
  add_operator(parts, name, [](const auto& a, const auto& b) { return expression; })
#define REVERSED(name, expression) \
  add_reversed(parts, name, [](const auto& a, const auto& b) { return expression; })

// One function for all operands, so that it has one signature.
template <Tensor (*kOfTensors)(const Tensor&, const Tensor&),
          Tensor (*kOfScalar)(const Tensor&, const Scalar&)>
nb::object equal_or_not(const Tensor& a, nb::handle b) {
  Scalar number = 0;
  if (nb::isinstance<Tensor>(b)) return nb::cast(kOfTensors(a, *nb::inst_ptr<Tensor>(b)));
  if (read_scalar(b, number)) return nb::cast(kOfScalar(a, number));
  return nb::borrow(Py_NotImplemented);
}

void add_operators(Module& parts) {
  OPERATOR("__add__", a + b);
  REVERSED("__radd__", a + b);
  OPERATOR("__sub__", a - b);
  REVERSED("__rsub__", a - b);
  OPERATOR("__mul__", a * b);
  REVERSED("__rmul__", a * b);
  OPERATOR("__truediv__", a / b);
  REVERSED("__rtruediv__", a / b);
  OPERATOR("__floordiv__", floor_divide(a, b));
  REVERSED("__rfloordiv__", floor_divide(a, b));
  OPERATOR("__mod__", a % b);
  REVERSED("__rmod__", a % b);
  OPERATOR("__pow__", pow(a, b));
  REVERSED("__rpow__", pow(a, b));
  OPERATOR("__lt__", a < b);
  OPERATOR("__le__", a <= b);
  OPERATOR("__gt__", a > b);
  OPERATOR("__ge__", a >= b);
  OPERATOR("__and__", bitwise_and(a, b));
  OPERATOR("__or__", bitwise_or(a, b));
  OPERATOR("__xor__", bitwise_xor(a, b));
  REVERSED("__rand__", bitwise_and(a, b));
  REVERSED("__ror__", bitwise_or(a, b));
  REVERSED("__rxor__", bitwise_xor(a, b));
  REVERSED("__rlshift__", bitwise_left_shift(a, b));
  REVERSED("__rrshift__", bitwise_right_shift(a, b));
  OPERATOR("__lshift__", bitwise_left_shift(a, b));
  OPERATOR("__rshift__", bitwise_right_shift(a, b));
  // By element, as in PyTorch; so a tensor's hash is its identity.
  parts.tensor.def("__eq__", &equal_or_not<eq, eq>, nb::is_operator(),
                   nb::sig("def __eq__(self, other: object, /) -> typing.Any"));
  parts.tensor.def("__ne__", &equal_or_not<ne, ne>, nb::is_operator(),
                   nb::sig("def __ne__(self, other: object, /) -> typing.Any"));
  parts.tensor.def("__hash__", [](const Tensor& x) {
    return std::hash<const void*>()(x.home().get()) ^ x.id().index();
  });
  // NumPy leaves operators with a tensor to the tensor.
  parts.tensor.attr("__array_ufunc__") = nb::none();
  parts.tensor.def("__neg__", [](const Tensor& x) { return -x; });
  parts.tensor.def("__invert__", [](const Tensor& x) { return bitwise_not(x); });
}

}  // namespace

void add_arithmetic(Module& parts) {
  add_operators(parts);
  FUNCTION(floor_divide);
  FUNCTION(remainder);
  FUNCTION(fmod);
  FUNCTION(pow);
  FUNCTION(eq);
  FUNCTION(ne);
  FUNCTION(lt);
  FUNCTION(le);
  FUNCTION(gt);
  FUNCTION(ge);
  FUNCTION(minimum);
  FUNCTION(maximum);
  FUNCTION(bitwise_and);
  FUNCTION(bitwise_or);
  FUNCTION(bitwise_xor);
  FUNCTION(bitwise_left_shift);
  FUNCTION(bitwise_right_shift);
  FUNCTION(logical_and);
  FUNCTION(logical_or);
  FUNCTION(logical_xor);
  parts.both("bitwise_not", &bitwise_not);
  parts.both("logical_not", &logical_not);
  parts.both(
      "clamp",
      [](const Tensor& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
        return clamp(x, low, high);
      },
      "low"_a.none() = nb::none(), "high"_a.none() = nb::none());
  parts.both(
      "clamp",
      [](const Tensor& x, const Tensor& low, const Tensor& high) { return clamp(x, low, high); },
      "low"_a, "high"_a);
  add_where<Tensor, Tensor>(parts);
  add_where<Tensor, Scalar>(parts);
  add_where<Scalar, Tensor>(parts);
  add_where<Scalar, Scalar>(parts);
}

}  // namespace luminal::python

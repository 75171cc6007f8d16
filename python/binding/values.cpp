// DType and Expr.
#include <fmt/format.h>

#include "binding/binding.h"

namespace luminal::python {
namespace {

std::string expr_repr(Expr e) { return fmt::format("Expr({})", e.text()); }

}  // namespace

void add_values(nb::module_& module) {
  nb::enum_<DType> dtype(module, "DType", "The type of a tensor's elements.");
  for (DType each : all_dtypes()) dtype.value(std::string(name(each)).c_str(), each);
  dtype.def_prop_ro("bits", [](DType of) { return bits(of); });
  for (DType each : all_dtypes()) {
    if (each == DType::Bool) continue;  // Python's own bool stays what it is
    module.attr(std::string(name(each)).c_str()) = nb::cast(each);
  }

  nb::class_<Expr>(module, "Expr", "A symbolic integer: the value of a dim, an offset or an index.")
      .def(nb::init<int64_t>(), nb::arg("value"))
      .def_static("var", &Expr::var, nb::arg("name"), nb::arg("lower") = 0,
                  nb::arg("upper") = Expr::kMaxVar,
                  "A variable with bounds, which a run gives its value.")
      .def(
          "__add__", [](Expr a, Size b) { return a + b.value; }, nb::is_operator())
      .def(
          "__radd__", [](Expr a, Size b) { return b.value + a; }, nb::is_operator())
      .def(
          "__sub__", [](Expr a, Size b) { return a - b.value; }, nb::is_operator())
      .def(
          "__rsub__", [](Expr a, Size b) { return b.value - a; }, nb::is_operator())
      .def(
          "__mul__", [](Expr a, Size b) { return a * b.value; }, nb::is_operator())
      .def(
          "__rmul__", [](Expr a, Size b) { return b.value * a; }, nb::is_operator())
      .def(
          "__floordiv__", [](Expr a, Size b) { return a / b.value; }, nb::is_operator())
      .def(
          "__rfloordiv__", [](Expr a, Size b) { return b.value / a; }, nb::is_operator())
      .def(
          "__mod__", [](Expr a, Size b) { return a % b.value; }, nb::is_operator())
      .def(
          "__rmod__", [](Expr a, Size b) { return b.value % a; }, nb::is_operator())
      .def("__neg__", [](Expr a) { return -a; })
      .def(
          "__eq__", [](Expr a, Size b) { return a == b.value; }, nb::is_operator(),
          "Whether both are the same expression.",
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(
          "__hash__",
          [](Expr e) { return nb::hash(e.to_int() ? to_python(e) : nb::object(nb::int_(e.id()))); })
      .def("__bool__",
           [](Expr e) {
             if (const auto value = e.to_int()) return *value != 0;
             throw nb::type_error("the value of a variable is only known in a run");
           })
      .def("__str__", &Expr::text)
      .def("__repr__", &expr_repr)
      .def_prop_ro("name", [](Expr e) { return std::string(e.name()); })
      .def_prop_ro("lower_bound", &Expr::lower_bound)
      .def_prop_ro("upper_bound", &Expr::upper_bound)
      .def(
          "bind",
          [](Expr e, const std::map<std::string, int64_t>& values) {
            Bindings bindings;
            for (const auto& [name, value] : values) bindings.set(name, value);
            return to_python(e.bind(bindings));
          },
          nb::arg("values"), "The same expression with these values for variables.",
          nb::sig("def bind(self, values: collections.abc.Mapping[str, int]) -> Expr | int"));
  module.def("var", &Expr::var, nb::arg("name"), nb::arg("lower") = 0,
             nb::arg("upper") = Expr::kMaxVar,
             "A size that a run chooses: Expr.var under a shorter name.");
  module.def(
      "ceil_div", [](Size a, Size b) { return to_python(ceil_div(a, b)); }, nb::arg("a"),
      nb::arg("b"), nb::sig("def ceil_div(a: int | Expr, b: int | Expr) -> int | Expr"));
}

}  // namespace luminal::python

// Methods of Tensor that compute nothing: what it is, views, names, and its elements.
#include <fmt/format.h>

#include <limits>
#include <sstream>

#include "binding/arrays.h"
#include "binding/binding.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// A bound that lies before the first element of any dim: negative ones count from the end.
constexpr int64_t kBeforeFirst = std::numeric_limits<int64_t>::min() / 2;

// reshape(2, 3) and reshape((2, 3)) are the same.
Dims dims_of(const nb::args& arguments, const char* method) {
  Dims dims;
  Expr one;
  const nb::handle all = arguments.size() == 1 && !read_expr(arguments[0], one)
                             ? nb::handle(arguments[0])
                             : nb::handle(arguments);
  if (!read_dims(all, dims)) {
    throw nb::type_error((std::string(method) + "() takes ints and Exprs").c_str());
  }
  return dims;
}

std::vector<int> axes_of(const nb::args& arguments, const char* method) {
  std::vector<int> axes;
  for (Expr axis : dims_of(arguments, method)) {
    const auto value = axis.to_int();
    if (!value || *value != static_cast<int>(*value)) {
      throw nb::type_error((std::string(method) + "() takes the numbers of axes").c_str());
    }
    axes.push_back(static_cast<int>(*value));
  }
  return axes;
}

// Elements start, start + step … before stop, where either may be left out.
Tensor sliced(const Tensor& x, int axis, std::optional<Expr> start, std::optional<Expr> stop,
              Expr step) {
  if (step.upper_bound() < 0) {
    // Backwards: from the last one, past the first one.
    return x.slice(axis, start.value_or(x.dim(axis) - 1), stop.value_or(Expr(kBeforeFirst)), step);
  }
  return x.slice(axis, start.value_or(Expr(0)), stop.value_or(x.dim(axis)), step);
}

Expr checked_index(const Tensor& x, int axis, Expr at) {
  const auto index = at.to_int(), size = x.dim(axis).to_int();
  if (index && size && (*index >= *size || *index < -*size)) {
    throw nb::index_error(fmt::format("index {} of a dim of {}", *index, *size).c_str());
  }
  return at;
}

// One index of x[…]: an integer takes the axis away, a slice keeps it, None adds one.
Tensor indexed(const Tensor& x, int& axis, nb::handle index) {
  Expr at;
  if (index.is_none()) return x.unsqueeze(axis++);
  if (read_expr(index, at)) return x.select(axis, checked_index(x, axis, at));
  if (!PySlice_Check(index.ptr())) {
    throw nb::type_error(
        "an index is an int, an Expr, a slice, None or ...; use gather() or "
        "index_select() for tensors of indices");
  }
  auto bound = [&](const char* name) -> std::optional<Expr> {
    const nb::object value = index.attr(name);
    Expr given;
    if (value.is_none()) return std::nullopt;
    if (!read_expr(value, given)) throw nb::type_error("bounds of slices are ints and Exprs");
    return given;
  };
  return sliced(x, axis++, bound("start"), bound("stop"), bound("step").value_or(Expr(1)));
}

Tensor item(const Tensor& x, nb::handle index) {
  const nb::tuple all =
      nb::isinstance<nb::tuple>(index) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
  int kept = 0;  // indices that stand for an axis of x
  for (nb::handle each : all) kept += !each.is_none() && each.ptr() != Py_Ellipsis;
  if (kept > x.rank()) {
    throw nb::index_error(fmt::format("{} indices for {} axes", kept, x.rank()).c_str());
  }
  Tensor result = x;
  int axis = 0;
  bool skipped = false;
  for (nb::handle each : all) {
    if (each.ptr() == Py_Ellipsis) {
      if (skipped) throw nb::index_error("an index has one ... at most");
      skipped = true;
      axis += x.rank() - kept;
    } else {
      result = indexed(result, axis, each);
    }
  }
  return result;
}

std::string text_of(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

}  // namespace

void add_views(Module& parts) {
  parts.tensor.def_prop_ro("dtype", &Tensor::dtype)
      .def_prop_ro(
          "shape", [](const Tensor& x) { return to_python(x.dims()); },
          nb::sig("def shape(self) -> tuple[int | Expr, ...]"))
      .def_prop_ro("ndim", &Tensor::rank)
      .def_prop_ro(
          "n_elements", [](const Tensor& x) { return to_python(x.n_elements()); },
          nb::sig("def n_elements(self) -> int | Expr"))
      .def(
          "dim", [](const Tensor& x, int axis) { return to_python(x.dim(axis)); }, "axis"_a,
          nb::sig("def dim(self, axis: int) -> int | Expr"))
      .def(
          "permute",
          [](const Tensor& x, const nb::args& order) {
            return x.permute(axes_of(order, "permute"));
          },
          nb::sig("def permute(self, *order: int | collections.abc.Sequence[int]) -> Tensor"))
      .def("transpose", &Tensor::transpose, "axis_a"_a, "axis_b"_a)
      .def("t", &Tensor::t, "The last two axes swapped.")
      .def(
          "reshape",
          [](const Tensor& x, const nb::args& dims) { return x.reshape(dims_of(dims, "reshape")); },
          "One dim may be -1.",
          nb::sig("def reshape(self, *dims: int | Expr | collections.abc.Sequence[int | Expr]) -> "
                  "Tensor"))
      .def("flatten", &Tensor::flatten, "first"_a = 0, "last"_a = -1)
      .def(
          "squeeze",
          [](const Tensor& x, std::optional<int> axis) {
            return axis ? x.squeeze(*axis) : x.squeeze();
          },
          "axis"_a.none() = nb::none())
      .def("unsqueeze", &Tensor::unsqueeze, "axis"_a)
      .def(
          "expand",
          [](const Tensor& x, const nb::args& dims) { return x.expand(dims_of(dims, "expand")); },
          "To more dims on the left too; -1 keeps a dim.",
          nb::sig("def expand(self, *dims: int | Expr | collections.abc.Sequence[int | Expr]) -> "
                  "Tensor"))
      .def("expand_as", &Tensor::expand_as, "other"_a)
      .def("merge_dims", &Tensor::merge_dims, "first"_a, "count"_a = 2)
      .def(
          "split_dims",
          [](const Tensor& x, int axis, const Dims& factors) {
            return x.split_dims(axis, std::span<const Expr>(factors));
          },
          "axis"_a, "factors"_a)
      .def(
          "slice",
          [](const Tensor& x, int axis, std::optional<Size> start, std::optional<Size> stop,
             Size step) { return sliced(x, axis, start, stop, step); },
          "axis"_a, "start"_a.none() = nb::none(), "stop"_a.none() = nb::none(), "step"_a = 1)
      .def(
          "select", [](const Tensor& x, int axis, Size index) { return x.select(axis, index); },
          "axis"_a, "index"_a)
      .def(
          "narrow",
          [](const Tensor& x, int axis, Size start, Size size) {
            return x.narrow(axis, start, size);
          },
          "axis"_a, "start"_a, "size"_a)
      .def(
          "unfold",
          [](const Tensor& x, int axis, Size size, Size step, Size dilation) {
            return x.unfold(axis, size, step, dilation);
          },
          "axis"_a, "size"_a, "step"_a, "dilation"_a = 1,
          "Windows of `size`, `step` apart, as a new last axis.")
      .def(
          "flip",
          [](const Tensor& x, const Axes& axes) {
            Tensor result = x;
            for (int axis : axes.list) result = result.flip({axis});
            return result;
          },
          "axes"_a)
      .def(
          "roll", [](const Tensor& x, Size shift, int axis) { return x.roll(shift, axis); },
          "shift"_a, "axis"_a)
      .def(
          "repeat",
          [](const Tensor& x, const nb::args& times) { return x.repeat(dims_of(times, "repeat")); },
          nb::sig("def repeat(self, *times: int | Expr | collections.abc.Sequence[int | Expr]) -> "
                  "Tensor"))
      .def("__getitem__", &item, "index"_a,
           nb::sig("def __getitem__(self, index: typing.Any) -> Tensor"))
      .def(
          "cast", [](const Tensor& x, DTypeName dtype) { return x.cast(dtype); }, "dtype"_a,
          "Elements converted.")
      .def(
          "bitcast", [](const Tensor& x, DTypeName dtype) { return x.bitcast(dtype); }, "dtype"_a,
          "The same bits as another dtype.")
      .def(
          "set",
          [](const Tensor& x, nb::handle values) { return x.set(read_data(values, x.dtype())); },
          "values"_a,
          "The elements of an input, weight or state. An array that is contiguous is shared.",
          nb::sig("def set(self, values: typing.Any) -> Tensor"))
      .def("name", &Tensor::name, "label"_a, "A name for messages and drawings.")
      .def("output", &Tensor::output, "name"_a, "Makes it an output under this name.")
      .def("keep", &Tensor::keep, "Makes its value readable after a run.")
      .def("drop", &Tensor::drop, "Undoes keep().")
      .def("materialize", &Tensor::materialize, "Stores its value in memory, whatever else fuses.")
      .def("__repr__", [](const Tensor& x) { return "luminal.Tensor(" + text_of(x) + ")"; })
      .def("__str__", &text_of)
      .def(
          "__iter__",
          [](const Tensor& x) {
            const auto rows = x.rank() == 0 ? std::nullopt : x.dim(0).to_int();
            if (!rows) throw nb::type_error("only a tensor whose first dim is known has rows");
            nb::list all;
            for (int64_t i = 0; i < *rows; ++i) all.append(nb::cast(x.select(0, i)));
            return nb::iter(all);
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Tensor]"))
      .def("__contains__",
           [](const Tensor&, nb::handle) -> bool {
             throw nb::type_error("a tensor of a graph has no elements yet");
           })
      .def("__bool__", [](const Tensor&) -> bool {
        throw nb::type_error("a Tensor of a graph has no value yet; where() chooses in the graph");
      });
}

}  // namespace luminal::python

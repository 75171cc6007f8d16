// What Python values become as arguments: a number is a Scalar or an Expr, a tuple of them dims, an
// int or a tuple of ints axes, and a name a dtype.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "luminal/graph/composite/conv.h"
#include "luminal/graph/options.h"
#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"
#include "luminal/shape/expr.h"

namespace luminal::python {

namespace nb = nanobind;

// A dtype by its name: "bf16", or PyTorch's and NumPy's "bfloat16".
std::optional<DType> dtype_named(std::string_view name);

// A dtype as an argument: a DType or a name.
struct DTypeName {
  std::optional<DType> dtype;
  std::string name;        // of one that isn't known
  operator DType() const;  // NOLINT: it is one; UserError for a name that isn't known
};

// An Expr as an argument: an int is one too.
struct Size {
  Size() = default;
  Size(int of) : value(of) {}  // NOLINT: of default values
  Expr value;
  operator Expr() const { return value; }  // NOLINT: it is one
};

// Constants become ints; other expressions stay.
nb::object to_python(Expr e);
nb::tuple to_python(const Dims& dims);

// An int or an Expr; false if it is neither.
bool read_expr(nb::handle value, Expr& out) noexcept;
bool read_scalar(nb::handle value, Scalar& out) noexcept;
bool read_dims(nb::handle value, Dims& out) noexcept;
// A path as text: a str, or anything with __fspath__. TypeError for others.
std::string path_of(nb::handle path);

}  // namespace luminal::python

// Casters of values that aren't classes in Python. `Value` needs an initial value.
#define LUMINAL_VALUE_CASTER(Type, initial, ...)         \
  using Value = Type;                                    \
  static constexpr auto Name = __VA_ARGS__;              \
  template <typename T>                                  \
  using Cast = movable_cast_t<T>;                        \
  template <typename T>                                  \
  static constexpr bool can_cast() {                     \
    return true;                                         \
  }                                                      \
  explicit operator Value*() { return &value; }          \
  explicit operator Value&() { return (Value&)value; }   \
  explicit operator Value&&() { return (Value&&)value; } \
  Value value = initial;

namespace nanobind::detail {

template <>
struct type_caster<luminal::Scalar> {
  LUMINAL_VALUE_CASTER(luminal::Scalar, 0,
                       const_name("float | ") + make_caster<luminal::Expr>::Name)
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return luminal::python::read_scalar(source, value);
  }
};

template <>
struct type_caster<luminal::python::Size> {
  LUMINAL_VALUE_CASTER(luminal::python::Size, {},
                       const_name("int | ") + make_caster<luminal::Expr>::Name)
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return luminal::python::read_expr(source, value.value);
  }
};

template <>
struct type_caster<luminal::Dims> {
  LUMINAL_VALUE_CASTER(luminal::Dims, luminal::Dims(),
                       io_name("collections.abc.Sequence[int | ", "tuple[int | ") +
                           make_caster<luminal::Expr>::Name + io_name("]", ", ...]"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    return luminal::python::read_dims(source, value);
  }
  static handle from_cpp(const luminal::Dims& dims, rv_policy, cleanup_list*) noexcept {
    return luminal::python::to_python(dims).release();
  }
};

template <>
struct type_caster<luminal::Axes> {
  LUMINAL_VALUE_CASTER(luminal::Axes, luminal::Axes(),
                       const_name("int | collections.abc.Sequence[int]"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    int axis = 0;
    if (try_cast(source, axis)) {
      value = luminal::Axes(axis);
      return true;
    }
    make_caster<std::vector<int>> axes;
    if (!axes.from_python(source, flags, cleanup)) return false;
    value = luminal::Axes(std::move(axes.value));
    return true;
  }
};

template <>
struct type_caster<luminal::Size2> {
  LUMINAL_VALUE_CASTER(luminal::Size2, 0,
                       const_name("int | tuple[int, int] | ") + make_caster<luminal::Expr>::Name)
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    luminal::Expr both;
    if (luminal::python::read_expr(source, both)) {
      value = luminal::Size2(both);
      return true;
    }
    luminal::Dims sizes;
    if (!luminal::python::read_dims(source, sizes) || sizes.size() != 2) return false;
    value = luminal::Size2(sizes[0], sizes[1]);
    return true;
  }
};

template <>
struct type_caster<luminal::python::DTypeName> {
  LUMINAL_VALUE_CASTER(luminal::python::DTypeName, {},
                       make_caster<luminal::DType>::Name + const_name(" | str"))
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<luminal::DType> known;
    if (known.from_python(source, flags, cleanup)) {
      value.dtype = known.value;
      return true;
    }
    PyErr_Clear();
    if (!PyUnicode_Check(source.ptr())) return false;
    const char* name = PyUnicode_AsUTF8(source.ptr());
    if (name == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.dtype = luminal::python::dtype_named(name);
    value.name = name;
    return true;
  }
};

}  // namespace nanobind::detail

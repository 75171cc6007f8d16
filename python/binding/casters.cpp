#include "binding/casters.h"

#include "luminal/base/errors.h"

namespace luminal::python {
namespace {

struct NameOfDType {
  std::string_view name;
  DType dtype;
};
// PyTorch's and NumPy's names; the library's own come first.
constexpr NameOfDType kOtherNames[] = {
    {"float64", DType::F64},   {"double", DType::F64},  {"float32", DType::F32},
    {"float", DType::F32},     {"float16", DType::F16}, {"half", DType::F16},
    {"bfloat16", DType::BF16}, {"int64", DType::I64},   {"long", DType::I64},
    {"int32", DType::I32},     {"int", DType::I32},     {"int16", DType::I16},
    {"int8", DType::I8},       {"uint8", DType::U8},
};

// Numbers of NumPy are ints or floats by their methods.
bool read_int(PyObject* value, int64_t& out) noexcept {
  if (!PyIndex_Check(value)) return false;
  PyObject* index = PyNumber_Index(value);
  if (index == nullptr) {
    PyErr_Clear();
    return false;
  }
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  return overflow == 0;
}

// What float() takes and has no items: NumPy's f32 and bool.
bool read_real_like(nb::handle value, Scalar& out) noexcept {
  PyObject* object = value.ptr();
  if (PySequence_Check(object) || PyUnicode_Check(object) ||
      !PyObject_HasAttrString(object, "__float__") || PyObject_HasAttrString(object, "__len__")) {
    return false;
  }
  const double real = PyFloat_AsDouble(object);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string type = nb::type_name(value.type()).c_str();
  out = type == "numpy.bool" || type == "numpy.bool_" ? Scalar(real != 0) : Scalar(real);
  return true;
}

}  // namespace

std::optional<DType> dtype_named(std::string_view name) {
  if (auto own = dtype_from_name(name)) return own;
  for (const NameOfDType& other : kOtherNames) {
    if (other.name == name) return other.dtype;
  }
  return std::nullopt;
}

DTypeName::operator DType() const {
  if (dtype) return *dtype;
  std::string known;
  for (DType each : all_dtypes()) {
    known += (known.empty() ? "" : ", ") + std::string(luminal::name(each));
  }
  throw UserError("there is no dtype '" + name + "'; there are: " + known);
}

std::string path_of(nb::handle path) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(path));
}

nb::object to_python(Expr e) {
  if (const auto value = e.to_int()) return nb::int_(*value);
  return nb::cast(e);
}

nb::tuple to_python(const Dims& dims) {
  nb::list items;
  for (Expr dim : dims) items.append(to_python(dim));
  return nb::tuple(items);
}

bool read_expr(nb::handle value, Expr& out) noexcept {
  int64_t integer = 0;
  if (!PyBool_Check(value.ptr()) && read_int(value.ptr(), integer)) {
    out = Expr(integer);
    return true;
  }
  if (!nb::isinstance<Expr>(value)) return false;
  out = *nb::inst_ptr<Expr>(value);
  return true;
}

bool read_scalar(nb::handle value, Scalar& out) noexcept {
  int64_t integer = 0;
  if (PyBool_Check(value.ptr())) {
    out = Scalar(value.ptr() == Py_True);
  } else if (PyFloat_Check(value.ptr())) {
    out = Scalar(PyFloat_AsDouble(value.ptr()));
  } else if (read_int(value.ptr(), integer)) {
    out = Scalar(integer);
  } else if (nb::isinstance<Expr>(value)) {
    out = Scalar(*nb::inst_ptr<Expr>(value));
  } else {
    return read_real_like(value, out);
  }
  return true;
}

bool read_dims(nb::handle value, Dims& out) noexcept {
  if (PyUnicode_Check(value.ptr()) || !PySequence_Check(value.ptr())) return false;
  const Py_ssize_t size = PySequence_Size(value.ptr());
  out.clear();
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* item = PySequence_GetItem(value.ptr(), i);
    Expr dim;
    const bool fits = item != nullptr && read_expr(item, dim);
    Py_XDECREF(item);
    if (!fits) break;
    out.push_back(dim);
  }
  PyErr_Clear();
  return static_cast<Py_ssize_t>(out.size()) == size;
}

}  // namespace luminal::python

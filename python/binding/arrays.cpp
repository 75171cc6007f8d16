#include "binding/arrays.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>

#include "binding/binding.h"
#include "luminal/base/errors.h"
#include "luminal/graph/strided_data.h"

namespace luminal::python {
namespace {

using Elements = nb::ndarray<nb::ro, nb::device::cpu>;
using NumPyArray = nb::ndarray<nb::numpy>;
using ReadOnlyNumPyArray = nb::ndarray<nb::numpy, nb::ro>;

constexpr uint8_t code_of(nb::dlpack::dtype_code code) { return static_cast<uint8_t>(code); }

nb::dlpack::dtype dlpack_of(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  const Code code = dtype == DType::BF16   ? Code::Bfloat
                    : dtype == DType::Bool ? Code::Bool
                    : is_float(dtype)      ? Code::Float
                    : is_unsigned(dtype)   ? Code::UInt
                                           : Code::Int;
  return {code_of(code), static_cast<uint8_t>(bits(dtype)), 1};
}

std::optional<DType> dtype_of(nb::dlpack::dtype type) {
  for (DType dtype : all_dtypes()) {
    if (kind(dtype) != DTypeKind::Packed && dlpack_of(dtype) == type) return dtype;
  }
  return std::nullopt;
}

TensorData data_of(const Elements& array) {
  const auto dtype = dtype_of(array.dtype());
  if (!dtype) {
    throw UserError(
        fmt::format("an array with elements of {} bits of a kind that isn't known (DLPack code "
                    "{}); convert it to one of luminal.DType",
                    array.dtype().bits, array.dtype().code));
  }
  std::vector<int64_t> dims, strides;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    dims.push_back(static_cast<int64_t>(array.shape(axis)));
    strides.push_back(array.stride(axis));
  }
  return row_major(*dtype, std::move(dims), strides, static_cast<const std::byte*>(array.data()),
                   std::make_shared<Elements>(array));
}

constexpr size_t kDeepest = 32;  // NumPy's limit

// Numbers of nested lists, in row-major order.
struct Numbers {
  std::vector<int64_t> dims;
  std::vector<double> reals;
  std::vector<int64_t> integers;
  bool all_integers = true;
  bool all_bools = true;

  void take(nb::handle value, size_t depth) {
    if (depth > kDeepest) throw UserError("lists are nested too deeply");
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return take_items(value, depth);
    if (depth != dims.size()) throw UserError("nested lists must have the same depth everywhere");
    Scalar scalar = 0;
    if (!read_scalar(value, scalar) || scalar.kind == Scalar::Kind::Symbolic) {
      throw UserError(
          fmt::format("{} in a list is no number that 64 bits hold; give numbers, or "
                      "one array instead of a list",
                      nb::repr(value).c_str()));
    }
    all_integers = all_integers && scalar.kind != Scalar::Kind::Float;
    all_bools = all_bools && scalar.kind == Scalar::Kind::Bool;
    reals.push_back(scalar.real);
    integers.push_back(scalar.integer);
  }

  TensorData data(std::optional<DType> wanted) const {
    const DType dtype = wanted          ? *wanted
                        : reals.empty() ? DType::F32
                        : all_bools     ? DType::Bool
                        : all_integers  ? DType::I64
                                        : DType::F32;
    if (!is_float(dtype) && !all_integers) {
      throw UserError(fmt::format("floats were given for {}; give integers", name(dtype)));
    }
    const TensorData all = is_float(dtype)
                               ? TensorData::copy_of(std::span<const double>(reals), dims)
                               : TensorData::copy_of(std::span<const int64_t>(integers), dims);
    TensorData result = all.cast(dtype);
    if (!is_float(dtype) && result.to_ints() != integers) {
      throw UserError(fmt::format("{} can't hold every number that was given", name(dtype)));
    }
    return result;
  }

 private:
  void take_items(nb::handle list, size_t depth) {
    const auto size = static_cast<int64_t>(nb::len(list));
    if (depth == dims.size()) {
      if (!reals.empty()) throw UserError("nested lists must have the same depth everywhere");
      dims.push_back(size);
    } else if (dims[depth] != size) {
      throw UserError(fmt::format("rows of nested lists have {} and {} items; give equal ones",
                                  dims[depth], size));
    }
    for (nb::handle item : nb::iter(list)) take(item, depth + 1);
  }
};

bool is_list(nb::handle value) {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyBool_Check(value.ptr()) ||
         PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr());
}

// What keeps the elements alive, for whoever gets their address.
nb::capsule owner_of(const TensorData& data) {
  return nb::capsule(new std::shared_ptr<const void>(data.owner), [](void* owner) noexcept {
    delete static_cast<std::shared_ptr<const void>*>(owner);
  });
}

// As an ndarray of one of nanobind's frameworks.
template <typename Result>
nb::object exported(const Array& array) {
  const TensorData& data = array.data;
  if (kind(data.dtype) == DTypeKind::Packed) {
    throw UserError(fmt::format("elements of {} have no address: astype(\"u8\") gives them one",
                                name(data.dtype)));
  }
  const std::vector<size_t> shape(data.dims.begin(), data.dims.end());
  auto* first = const_cast<std::byte*>(data.bytes.data());
  Result result(first, shape.size(), shape.data(), owner_of(data), nullptr, dlpack_of(data.dtype),
                nb::device::cpu::value, 0, 'C');
  return nb::cast(result, nb::rv_policy::reference);
}

nb::object numpy_of(const Array& array) {
  if (array.data.dtype == DType::BF16) {
    throw UserError(
        "NumPy has no bf16: astype(\"f32\") converts the array, and torch.from_dlpack() takes it "
        "as it is");
  }
  return array.writable ? exported<NumPyArray>(array) : exported<ReadOnlyNumPyArray>(array);
}

nb::object dlpack_object(const Array& array) {
  return array.writable ? exported<nb::ndarray<nb::array_api>>(array)
                        : exported<nb::ndarray<nb::array_api, nb::ro>>(array);
}

nb::object nested(const TensorData& data, const std::vector<nb::object>& items, size_t axis,
                  size_t& next) {
  if (axis == data.dims.size()) return items[next++];
  nb::list rows;
  for (int64_t i = 0; i < data.dims[axis]; ++i) rows.append(nested(data, items, axis + 1, next));
  return rows;
}

nb::object to_list(const TensorData& data) {
  std::vector<nb::object> items;
  if (is_float(data.dtype)) {
    for (double value : data.to_doubles()) items.emplace_back(nb::float_(value));
  } else {
    for (int64_t value : data.to_ints()) {
      items.emplace_back(data.dtype == DType::Bool ? nb::object(nb::bool_(value != 0))
                                                   : nb::object(nb::int_(value)));
    }
  }
  size_t next = 0;
  return nested(data, items, 0, next);
}

nb::object only_item(const Array& array) {
  if (array.data.n_elements() != 1) {
    throw UserError(
        fmt::format("item() is for arrays of one element, this one has {}; tolist() "
                    "gives all",
                    array.data.n_elements()));
  }
  nb::object item = to_list(array.data);
  for (size_t axis = 0; axis < array.data.dims.size(); ++axis) item = item[0];
  return item;
}

nb::tuple shape_of(const Array& array) {
  nb::list dims;
  for (int64_t dim : array.data.dims) dims.append(nb::int_(dim));
  return nb::tuple(dims);
}

// Element or row `at` along the first axis, in the same memory.
Array row(const Array& array, int64_t at) {
  const TensorData& data = array.data;
  if (data.dims.empty()) throw nb::index_error("an array without axes has no rows");
  if (at < 0) at += data.dims[0];
  if (at < 0 || at >= data.dims[0]) {
    throw nb::index_error(fmt::format("row {} of {}", at, data.dims[0]).c_str());
  }
  if (kind(data.dtype) == DTypeKind::Packed) throw nb::type_error("rows of u4 have no address");
  Array result = array;
  result.data.dims.erase(result.data.dims.begin());
  const auto size = static_cast<size_t>(byte_size(data.dtype, result.data.n_elements()));
  result.data.bytes = data.bytes.subspan(static_cast<size_t>(at) * size, size);
  return result;
}

std::string array_repr(const Array& array) {
  return fmt::format("luminal.Array({}, {}[{}])", print(array.data), name(array.data.dtype),
                     fmt::join(array.data.dims, ", "));
}

nb::object as_numpy(const Array& array, nb::handle dtype, nb::handle copy) {
  nb::object result = numpy_of(array);
  if (!dtype.is_none()) result = result.attr("astype")(dtype, nb::arg("copy") = false);
  if (!copy.is_none() && nb::cast<bool>(copy)) result = result.attr("copy")();
  return result;
}

}  // namespace

TensorData read_data(nb::handle value, std::optional<DType> wanted) {
  if (nb::isinstance<Array>(value)) return nb::inst_ptr<Array>(value)->data;
  if (is_list(value)) {
    Numbers numbers;
    numbers.take(value, 0);
    return numbers.data(wanted);
  }
  Elements elements;
  if (!nb::try_cast(value, elements)) {
    throw UserError(fmt::format(
        "{} is no array on the CPU: give one with the buffer protocol or DLPack (NumPy, PyTorch), "
        "or nested lists of numbers",
        nb::type_name(value.type()).c_str()));
  }
  return data_of(elements);
}

Results make_results(DType dtype, std::vector<int64_t> dims) {
  TensorData::Writable made = TensorData::zeros(dtype, std::move(dims));
  return {.array = {.data = std::move(made.data), .writable = true}, .bytes = made.bytes};
}

void add_arrays(nb::module_& module) {
  nb::class_<Array>(module, "Array",
                    "Elements in row-major order. NumPy and PyTorch read it without a copy: "
                    "numpy.asarray(array), torch.from_dlpack(array).")
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("dtype", [](const Array& array) { return array.data.dtype; })
      .def_prop_ro("size", [](const Array& array) { return array.data.n_elements(); })
      .def_prop_ro("nbytes", [](const Array& array) { return array.data.bytes.size(); })
      .def_prop_ro(
          "address",
          [](const Array& array) { return reinterpret_cast<uintptr_t>(array.data.bytes.data()); },
          "Where the first element is.")
      .def("numpy", &numpy_of, "The same elements as a NumPy array, without a copy.",
           nb::sig("def numpy(self) -> typing.Any"))
      .def(
          "astype",
          [](const Array& array, DTypeName dtype) {
            // Of the same dtype it is the same memory.
            const bool same = dtype == array.data.dtype;
            return Array{.data = array.data.cast(dtype), .writable = !same || array.writable};
          },
          nb::arg("dtype"), "The same values in another dtype.")
      .def(
          "tolist", [](const Array& array) { return to_list(array.data); },
          nb::sig("def tolist(self) -> typing.Any"))
      .def("item", &only_item, nb::sig("def item(self) -> bool | int | float"))
      .def("__float__", [](const Array& array) { return nb::float_(only_item(array)); })
      .def("__int__", [](const Array& array) { return nb::int_(only_item(array)); })
      .def("__bool__",
           [](const Array& array) { return nb::cast<bool>(nb::bool_(only_item(array))); })
      .def("__len__",
           [](const Array& array) {
             if (array.data.dims.empty())
               throw nb::type_error("an array without axes has no len()");
             return array.data.dims[0];
           })
      .def("__getitem__", &row, nb::arg("index"), "A row, in the same memory.")
      .def("__repr__", &array_repr)
      .def("__str__", [](const Array& array) { return print(array.data); })
      .def("__array__", &as_numpy, nb::arg("dtype").none() = nb::none(),
           nb::arg("copy").none() = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "typing.Any"))
      .def(
          "__dlpack__",
          [](const Array& array, const nb::kwargs& options) {
            return dlpack_object(array).attr("__dlpack__")(**options);
          },
          nb::sig("def __dlpack__(self, **options: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](const Array&) { return nb::make_tuple(nb::device::cpu::value, 0); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"));
  module.def(
      "array",
      [](nb::handle values, std::optional<DTypeName> dtype) {
        std::optional<DType> wanted;
        if (dtype) wanted = *dtype;
        const TensorData data = read_data(values, wanted);
        const bool own = is_list(values) || (wanted && *wanted != data.dtype);
        return Array{.data = wanted ? data.cast(*wanted) : data, .writable = own};
      },
      nb::arg("values"), nb::arg("dtype").none() = nb::none(),
      "The elements of an array, shared where it is contiguous, or of nested lists.",
      nb::sig("def array(values: typing.Any, dtype: DType | str | None = None) -> Array"));
}

}  // namespace luminal::python

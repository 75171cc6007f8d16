#include "binding/torch/dlpack_exchange.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::python::dlpack {
namespace {

constexpr uint32_t kMajor = 1;
constexpr const char* kTable = "__dlpack_c_exchange_api__";

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

const ExchangeTable* table_of(nb::handle type) {
  if (!nb::hasattr(type, kTable)) {
    throw UserError(
        fmt::format("this PyTorch has no {}, by which tensors are exchanged; install a newer "
                    "one (2.13 is tested)",
                    kTable));
  }
  const nb::object capsule = type.attr(kTable);
  void* found = PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api");
  if (found == nullptr) throw nb::python_error();
  auto* header = static_cast<ExchangeHeader*>(found);
  while (header != nullptr && header->version.major > kMajor) header = header->previous;
  const auto* table = reinterpret_cast<const ExchangeTable*>(header);
  if (table == nullptr || header->version.major != kMajor || table->look == nullptr) {
    throw UserError(
        fmt::format("this PyTorch exchanges tensors by another version of DLPack than {}.3; "
                    "install a newer luminal",
                    kMajor));
  }
  return table;
}

void set_error(void* context, const char*, const char* message) {
  *static_cast<std::string*>(context) = message;
}

}  // namespace

DataType type_of(DType dtype) {
  const Code code = dtype == DType::BF16   ? kBfloat
                    : dtype == DType::Bool ? kBool
                    : is_float(dtype)      ? kFloat
                    : is_unsigned(dtype)   ? kUInt
                                           : kInt;
  return {code, static_cast<uint8_t>(bits(dtype)), 1};
}

Torch find_torch() {
  nb::object type = nb::module_::import_("torch").attr("Tensor");
  const ExchangeTable* table = table_of(type);
  return {std::move(type), table};
}

NewTensor make_tensor(const ExchangeTable& table, DataType dtype, std::span<int64_t> dims) {
  TensorView prototype{.data = nullptr,
                       .device = {kCpu, 0},
                       .n_dims = static_cast<int32_t>(dims.size()),
                       .dtype = dtype,
                       .shape = dims.data(),
                       .strides = nullptr,
                       .byte_offset = 0};
  ManagedTensor* made = nullptr;
  std::string why;
  if (table.allocate(&prototype, &made, &why, &set_error) != 0) {
    throw DeviceError("PyTorch made no tensor for a result: " + why);
  }
  auto* first = static_cast<std::byte*>(made->view.data) + made->view.byte_offset;
  void* object = nullptr;
  if (table.give(made, &object) != 0) throw nb::python_error();
  return {nb::steal(static_cast<PyObject*>(object)), first};
}

}  // namespace luminal::python::dlpack

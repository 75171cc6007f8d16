#include "binding/torch/tensor_reader.h"

#include <algorithm>
#include <string>

namespace luminal::python {
namespace {

template <class Function>
bool find(const base::SharedLibrary& library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(library.symbol(name));
  return function != nullptr;
}

// Of this PyTorch: the file that the process has loaded.
std::string library_of(nb::handle torch) {
  const std::string file = nb::cast<std::string>(torch.attr("__file__"));
  return file.substr(0, file.rfind('/')) + "/lib/libtorch_cpu.so";
}

}  // namespace

TensorReader::TensorReader(nb::handle torch)
    : library_(base::SharedLibrary::open({library_of(torch).c_str()})) {
  const char* maker = "unsafe_alloc_void_ptr_from_tensor";
  const nb::object handles = nb::getattr(torch.attr("_C"), "_aoti", nb::none());
  if (library_ == nullptr || !nb::hasattr(handles, maker)) return;
  if (find(*library_, "aoti_torch_delete_tensor_object", delete_handle_) &&
      find(*library_, "torch_get_const_data_ptr", data_) &&
      find(*library_, "aoti_torch_get_dim", n_dims_) &&
      find(*library_, "aoti_torch_get_sizes", sizes_) &&
      find(*library_, "aoti_torch_get_strides", strides_) &&
      find(*library_, "aoti_torch_get_dtype", dtype_) &&
      find(*library_, "_ZNK2at10TensorBase8_versionEv", version_)) {
    make_handle_ = handles.attr(maker);
  }
}

std::optional<BorrowedTensor> TensorReader::borrow(nb::handle tensor, const Known& known) const {
  if (!make_handle_.is_valid()) return std::nullopt;
  const nb::object capsule = make_handle_(tensor);
  void* handle = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (handle == nullptr) throw nb::python_error();
  const BorrowedTensor borrowed{*static_cast<void**>(handle)};
  delete_handle_(handle);
  const bool agrees = lies_at(borrowed, known.data, dtype(borrowed), known.dims, known.strides) &&
                      version(borrowed) == known.version;
  return agrees ? std::optional(borrowed) : std::nullopt;
}

bool TensorReader::lies_at(const BorrowedTensor& tensor, const void* data, int32_t dtype,
                           std::span<const int64_t> dims, std::span<const int64_t> strides) const {
  const void* found = nullptr;
  int64_t n = -1;
  int64_t *its_dims = nullptr, *its_strides = nullptr;
  int32_t its_dtype = -1;
  if (data_(&tensor, &found) != 0 || found != data) return false;
  if (n_dims_(&tensor, &n) != 0 || n != std::ssize(dims)) return false;
  if (sizes_(&tensor, &its_dims) != 0 || strides_(&tensor, &its_strides) != 0) return false;
  if (dtype_(&tensor, &its_dtype) != 0 || its_dtype != dtype) return false;
  return std::equal(dims.begin(), dims.end(), its_dims) &&
         std::equal(strides.begin(), strides.end(), its_strides);
}

int64_t TensorReader::version(const BorrowedTensor& tensor) const {
  try {
    return version_(&tensor);
  } catch (...) {  // made under torch.inference_mode()
    return -1;
  }
}

int32_t TensorReader::dtype(const BorrowedTensor& tensor) const {
  int32_t found = -1;
  return dtype_(&tensor, &found) == 0 ? found : -1;
}

}  // namespace luminal::python

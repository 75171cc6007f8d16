// TensorReader: where a tensor of PyTorch lies and how often it was changed, by functions of
// PyTorch's library. They take some nanoseconds; the exchange table and Tensor._version take 100,
// most of it to convert Python objects, and a call reads hundreds of weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "binding/casters.h"
#include "luminal/base/os/library.h"

namespace luminal::python {

// A tensor as PyTorch's library takes it: an at::Tensor, which is one pointer, without a reference
// of its own. Valid while the Python object is, which swap_tensors() doesn't give another tensor as
// long as there is a weak reference to it.
struct BorrowedTensor {
  void* tensor = nullptr;
};

class TensorReader {
 public:
  // `torch` is the module. A PyTorch without these functions borrows nothing.
  explicit TensorReader(nb::handle torch);

  // Nothing if what these functions say of it isn't what `view` and `version` are, which PyTorch
  // said by its documented ways.
  struct Known {
    const void* data;
    std::span<const int64_t> dims, strides;
    int64_t version;
  };
  std::optional<BorrowedTensor> borrow(nb::handle tensor, const Known& known) const;

  // Whether its elements are still there, in the dtype (PyTorch's number) and with the strides.
  bool lies_at(const BorrowedTensor& tensor, const void* data, int32_t dtype,
               std::span<const int64_t> dims, std::span<const int64_t> strides) const;
  // Negative if PyTorch doesn't know. Tensors that share memory count together.
  int64_t version(const BorrowedTensor& tensor) const;
  // PyTorch's number; negative if it isn't known.
  int32_t dtype(const BorrowedTensor& tensor) const;

 private:
  // The C functions are PyTorch's stable ABI and return 0, or else an error. _version() has no C
  // function: it is at::TensorBase::_version() const, a C++ function that may throw.
  std::unique_ptr<base::SharedLibrary> library_;
  nb::object make_handle_;
  int32_t (*delete_handle_)(void* tensor) = nullptr;
  int32_t (*data_)(const void* tensor, const void** data) = nullptr;
  int32_t (*n_dims_)(const void* tensor, int64_t* n) = nullptr;
  int32_t (*sizes_)(const void* tensor, int64_t** sizes) = nullptr;
  int32_t (*strides_)(const void* tensor, int64_t** strides) = nullptr;
  int32_t (*dtype_)(const void* tensor, int32_t* dtype) = nullptr;
  int64_t (*version_)(const void* tensor) = nullptr;
};

}  // namespace luminal::python

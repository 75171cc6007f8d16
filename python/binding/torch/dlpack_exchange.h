// DLPack's C exchange table: how PyTorch shows a tensor's memory, makes tensors, and gives them to
// Python, without Python objects in between and without its library being linked.
#pragma once

#include <cstdint>
#include <span>

#include "binding/casters.h"
#include "luminal/shape/dtype.h"

// The declarations of DLPack 1.3 that are used here, with the layout that C has.
namespace luminal::python::dlpack {

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct Device {
  int32_t type;
  int32_t id;
};
inline constexpr int32_t kCpu = 1;

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  friend bool operator==(const DataType&, const DataType&) = default;
};

struct TensorView {
  void* data;
  Device device;
  int32_t n_dims;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
};

struct ManagedTensor {
  Version version;
  void* context;
  void (*deleter)(ManagedTensor* self);
  uint64_t flags;
  TensorView view;
};

struct ExchangeHeader {
  Version version;
  ExchangeHeader* previous;
};

// Functions that give int return 0, or −1 after an error was set, in Python or by `set_error`.
struct ExchangeTable {
  ExchangeHeader header;
  int (*allocate)(TensorView* prototype, ManagedTensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*take)(void* object, ManagedTensor** out);
  int (*give)(ManagedTensor* tensor, void** object);  // which owns the tensor from then on
  int (*look)(void* object, TensorView* out);         // valid while the object is; may be null
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
};

DataType type_of(DType dtype);

// PyTorch's table, and its type of tensors. UserError without a PyTorch that has one.
struct Torch {
  nb::object tensor_type;
  const ExchangeTable* table;
};
Torch find_torch();

// A new tensor of PyTorch on the CPU: its Python object, and the bytes of its elements, which
// aren't set.
struct NewTensor {
  nb::object object;
  std::byte* first;
};
NewTensor make_tensor(const ExchangeTable& table, DataType dtype, std::span<int64_t> dims);

}  // namespace luminal::python::dlpack

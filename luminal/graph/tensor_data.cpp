#include "luminal/graph/tensor_data.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/shape/scalar.h"

namespace luminal {

int64_t TensorData::n_elements() const {
  int64_t count = 1;
  for (int64_t dim : dims) {
    LUMINAL_CHECK(dim >= 0 && !__builtin_mul_overflow(count, dim, &count),
                  "the number of elements of a tensor overflows 64 bits");
  }
  return count;
}

TensorData::Writable TensorData::zeros(DType dtype, std::vector<int64_t> dims) {
  TensorData data{.dtype = dtype, .dims = std::move(dims), .bytes = {}, .owner = nullptr};
  const auto size = static_cast<size_t>(byte_size(dtype, data.n_elements()));
  std::shared_ptr<std::byte> storage = base::zeroed_memory(size);
  if (storage == nullptr) throw DeviceError(fmt::format("out of memory: {} bytes", size));
  const std::span<std::byte> bytes{storage.get(), size};
  data.bytes = bytes;
  data.owner = std::move(storage);
  return {.data = std::move(data), .bytes = bytes};
}

TensorData TensorData::copy_bytes(DType dtype, std::span<const std::byte> bytes,
                                  std::vector<int64_t> dims) {
  Writable copy = zeros(dtype, std::move(dims));
  if (copy.bytes.size() != bytes.size()) {
    throw UserError(fmt::format("{} bytes given for {} elements of {}, which take {}", bytes.size(),
                                copy.data.n_elements(), luminal::name(dtype), copy.bytes.size()));
  }
  if (!bytes.empty()) std::memcpy(copy.bytes.data(), bytes.data(), bytes.size());
  return copy.data;
}

TensorData TensorData::cast(DType to) const {
  if (to == dtype) return *this;
  Writable result = zeros(to, dims);
  const int64_t count = n_elements();
  for (int64_t i = 0; i < count; ++i) {
    if (is_float(dtype)) {
      double value = load_float(dtype, bytes.data(), i);
      if (is_float(to)) {
        store_float(to, result.bytes.data(), i, value);
      } else {
        store_int(to, result.bytes.data(), i, float_to_int(to, value));
      }
    } else {
      int64_t value = load_int(dtype, bytes.data(), i);
      if (is_float(to)) {
        // Straight to f32: through double a large integer would round twice.
        const double real = to == DType::F32 ? static_cast<double>(static_cast<float>(value))
                                             : static_cast<double>(value);
        store_float(to, result.bytes.data(), i, real);
      } else {
        store_int(to, result.bytes.data(), i, wrap_to(to, value));
      }
    }
  }
  return result.data;
}

std::vector<double> TensorData::to_doubles() const {
  std::vector<double> values(static_cast<size_t>(n_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = static_cast<int64_t>(i);
    values[i] = is_float(dtype) ? load_float(dtype, bytes.data(), at)
                                : static_cast<double>(load_int(dtype, bytes.data(), at));
  }
  return values;
}

std::vector<int64_t> TensorData::to_ints() const {
  std::vector<int64_t> values(static_cast<size_t>(n_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = static_cast<int64_t>(i);
    values[i] = is_float(dtype) ? float_to_int(DType::I64, load_float(dtype, bytes.data(), at))
                                : load_int(dtype, bytes.data(), at);
  }
  return values;
}

int64_t NestedList::saturate(double value) { return float_to_int(DType::I64, value); }

NestedList::NestedList(std::initializer_list<NestedList> items) {
  join({items.begin(), items.size()});
}

void NestedList::join(std::span<const NestedList> items) {
  dims_.push_back(static_cast<int64_t>(items.size()));
  const NestedList* first = nullptr;
  for (const NestedList& item : items) {
    if (first == nullptr) {
      first = &item;
      dims_.insert(dims_.end(), item.dims_.begin(), item.dims_.end());
    } else if (item.dims_ != first->dims_) {
      throw UserError(fmt::format(
          "a nested list has rows of different sizes: the first has dims [{}], another [{}]; make "
          "all rows of one level equally long",
          fmt::join(first->dims_, ", "), fmt::join(item.dims_, ", ")));
    }
    real_.insert(real_.end(), item.real_.begin(), item.real_.end());
    integer_.insert(integer_.end(), item.integer_.begin(), item.integer_.end());
  }
}

TensorData NestedList::data(DType dtype) const {
  TensorData::Writable result = TensorData::zeros(dtype, dims_);
  for (size_t i = 0; i < real_.size(); ++i) {
    auto at = static_cast<int64_t>(i);
    if (is_float(dtype)) {
      store_float(dtype, result.bytes.data(), at, real_[i]);
    } else {
      store_int(dtype, result.bytes.data(), at, wrap_to(dtype, integer_[i]));
    }
  }
  return result.data;
}

namespace {

std::string element_text(const TensorData& data, int64_t index) {
  if (data.dtype == DType::Bool) {
    return load_int(data.dtype, data.bytes.data(), index) ? "true" : "false";
  }
  if (!is_float(data.dtype))
    return fmt::format("{}", load_int(data.dtype, data.bytes.data(), index));
  double value = load_float(data.dtype, data.bytes.data(), index);
  // The shortest text that names the value in its own precision.
  return data.dtype == DType::F64 ? fmt::format("{}", value)
                                  : fmt::format("{}", static_cast<float>(value));
}

void print_axis(const TensorData& data, size_t axis, int64_t offset, int64_t stride,
                int max_per_dim, std::string& out) {
  if (axis == data.dims.size()) {
    out += element_text(data, offset);
    return;
  }
  const int64_t size = data.dims[axis];
  const int64_t inner = size == 0 ? 0 : stride / size;
  const bool shorten = size > max_per_dim;
  const int64_t head = shorten ? (max_per_dim + 1) / 2 : size;
  const int64_t tail_start = shorten ? size - max_per_dim / 2 : size;
  const bool innermost = axis + 1 == data.dims.size();
  const std::string separator = innermost ? ", " : ",\n" + std::string(axis + 1, ' ');
  out += "[";
  for (int64_t i = 0; i < size; ++i) {
    if (i == head && shorten) {
      out += separator + "...";
      i = tail_start;
    }
    if (i > 0) out += separator;
    print_axis(data, axis + 1, offset + i * inner, inner, max_per_dim, out);
  }
  out += "]";
}

}  // namespace

std::string print(const TensorData& data, int max_per_dim) {
  std::string out;
  print_axis(data, 0, 0, data.n_elements(), std::max(max_per_dim, 2), out);
  return out;
}

std::ostream& operator<<(std::ostream& out, const TensorData& data) { return out << print(data); }

}  // namespace luminal

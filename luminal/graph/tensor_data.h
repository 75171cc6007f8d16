// TensorData: elements on the host, in row-major order, with shared ownership of their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/shape/dtype.h"

namespace luminal {

struct LUMINAL_API TensorData {
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  std::span<const std::byte> bytes;   // byte_size(dtype, n_elements) of them
  std::shared_ptr<const void> owner;  // keeps `bytes` alive: a vector, a mapped file

  int64_t n_elements() const;

  // Copies `values`.
  template <typename T>
  static TensorData copy_of(std::span<const T> values, std::vector<int64_t> dims) {
    return copy_bytes(dtype_of<T>(), std::as_bytes(values), std::move(dims));
  }
  static TensorData copy_bytes(DType dtype, std::span<const std::byte> bytes,
                               std::vector<int64_t> dims);
  // Room for the elements, zeroed, with write access for the one who fills it.
  struct Writable;
  static Writable zeros(DType dtype, std::vector<int64_t> dims);

  // The same values in another dtype, rounded or wrapped as Cast does.
  TensorData cast(DType to) const;
  // The elements as doubles or integers, whatever the dtype.
  std::vector<double> to_doubles() const;
  std::vector<int64_t> to_ints() const;
};

struct TensorData::Writable {
  TensorData data;
  std::span<std::byte> bytes;
};

namespace detail {

// Whether T is a number, or a range of what is: vectors of vectors, arrays of arrays.
template <typename T>
constexpr bool holds_numbers() {
  if constexpr (std::is_arithmetic_v<T>) {
    return !std::is_same_v<T, char>;
  } else if constexpr (std::ranges::input_range<const T>) {
    using Item = std::ranges::range_value_t<const T>;
    if constexpr (!std::is_same_v<Item, T>) return holds_numbers<Item>();
  }
  return false;
}

}  // namespace detail

// A nested list of numbers: {{1, 2}, {3, 4}}, or a container of containers of them.
class LUMINAL_API NestedList {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  NestedList(T value)  // NOLINT: a number is a list of rank 0
      : real_{static_cast<double>(value)}, integer_{to_integer(value)} {}
  NestedList(std::initializer_list<NestedList> items);
  template <std::ranges::input_range R>
    requires(detail::holds_numbers<R>())
  NestedList(const R& items) {  // NOLINT: a container of numbers is a list
    std::vector<NestedList> rows;
    for (const auto& item : items) rows.emplace_back(item);
    join(rows);
  }

  // Throws UserError where rows differ in length.
  TensorData data(DType dtype) const;

 private:
  void join(std::span<const NestedList> items);
  template <typename T>
  static int64_t to_integer(T value) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(value);
    else
      return saturate(static_cast<double>(value));
  }
  static int64_t saturate(double value);

  std::vector<double> real_;
  std::vector<int64_t> integer_;
  std::vector<int64_t> dims_;
};

// Called when the data is first needed, e.g. by compile(); may read a file. Those of several
// tensors are called at once, on threads of their own.
using DataLoader = std::function<TensorData()>;

// Nested brackets; longer than `max_per_dim` along a dim, the middle is left out as "...".
LUMINAL_API std::string print(const TensorData& data, int max_per_dim = 8);
LUMINAL_API std::ostream& operator<<(std::ostream& out, const TensorData& data);  // as print()

}  // namespace luminal

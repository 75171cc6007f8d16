// Executable: a compiled graph with its weights, state and results, addressed by tensors.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/trace.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct RunOptions {
  bool debug = false;           // prints each step with shape and time
  std::ostream* out = nullptr;  // where debugging and probes print; standard output if null
  Trace* trace = nullptr;       // gets an event per step
  // Checks every kernel against the interpreter right after it, with canaries around its results:
  // slow. InternalError that names the first kernel that is wrong, its ops and rules.
  bool check_kernels = false;
};

class LUMINAL_API Executable {
 public:
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  // Sets the elements of an input, weight or state, in row-major order. A span's type must be the
  // tensor's (float for f16 and bf16 too, which rounds); a nested list converts.
  template <typename T>
  void set(const Tensor& tensor, std::span<const T> values) {
    set_bytes(tensor, dtype_of<T>(), std::as_bytes(values));
  }
  template <typename T>
  void set(const Tensor& tensor, const std::vector<T>& values) {
    set(tensor, std::span<const T>(values));
  }
  void set(const Tensor& tensor, const NestedList& values);
  void set(const Tensor& tensor, std::initializer_list<NestedList> values);
  void set(const Tensor& tensor, TensorData data);  // shares the bytes, no copy

  // Lets go of a weight's elements, which runs don't read any more: all that needs them was
  // computed in the first run. After another weight is set it must be set again. UserError where
  // runs still read it.
  void release(const Tensor& weight);
  // The same for every weight that no run reads any more; those that are still read stay.
  void release_folded();

  // One run with the dims' variables bound: run({{"s", 7}}).
  void run(const Bindings& bindings, const RunOptions& options = {});
  void run(const RunOptions& options = {});

  // The value of an output, a kept tensor or a leaf, contiguous. Elements convert to T as Cast
  // does. Of a state it is what the state holds now: after a run, its new value.
  template <typename T>
  std::vector<T> get(const Tensor& tensor) const {
    TensorData data = get_data(tensor).cast(dtype_of<T>());
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<int64_t> values = data.to_ints();
      return std::vector<bool>(values.begin(), values.end());
    } else {
      const auto* first = reinterpret_cast<const T*>(data.bytes.data());
      return std::vector<T>(first, first + data.bytes.size() / sizeof(T));
    }
  }
  TensorData get_data(const Tensor& tensor) const;  // a copy, in the tensor's dtype
  std::string print(const Tensor& tensor) const;    // nested brackets, long ones shortened

  // The same code and the same weights, with inputs, results and a copy of the state of its own.
  Executable clone() const;

 private:
  friend Executable compile_parts(const Graph& graph, const struct CompileOptions& options,
                                  const struct PartsUse& parts);
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  void set_bytes(const Tensor& tensor, DType dtype, std::span<const std::byte> bytes);

  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal

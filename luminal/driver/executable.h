// Executable: a compiled graph with its weights, state and results, addressed by tensors.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/tensor_ref.h"
#include "luminal/driver/trace.h"
#include "luminal/graph/element_range.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct RunOptions {
  bool debug = false;           // prints each step with shape and time
  std::ostream* out = nullptr;  // where `debug` and probes print; standard output if null
  Trace* trace = nullptr;       // gets an event per step
  // Checks every kernel against the interpreter right after it runs, with canaries around its
  // results: slow. InternalError that names the first wrong kernel, its ops and rules.
  bool check_kernels = false;
};

class LUMINAL_API Executable {
 public:
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  // Tensors are given as such or by name: set(x, …) or set("x", …). A caller who counts
  // microseconds gives the port of a leaf (input, weight or state) or of a result (output or kept
  // tensor), found once: calls with ports look nothing up, and those with the sizes of the call
  // before allocate nothing.
  ExecutablePort leaf_port(const TensorRef& tensor) const;
  ExecutablePort result_port(const TensorRef& tensor) const;

  // Sets the elements of an input, weight or state, in row-major order: a vector, array or span, or
  // a pointer and a count. Their type must be the tensor's (float for f16 and bf16 too, which
  // rounds). Nested lists and containers of containers convert, and their dims are checked.
  template <ElementRange R>
  void set(const TensorRef& tensor, const R& values) {
    set(tensor, std::ranges::data(values), std::ranges::size(values));
  }
  template <typename T>
  void set(const TensorRef& tensor, const T* values, size_t count) {
    set_bytes(tensor, dtype_of<T>(), std::as_bytes(std::span(values, count)));
  }
  void set(const TensorRef& tensor, const NestedList& values);
  void set(const TensorRef& tensor, std::initializer_list<NestedList> values);
  // Shares the bytes, no copy. With a null owner they must stay valid while they are set.
  void set(const TensorRef& tensor, const TensorData& data);

  // Lets go of an input's elements: it must be set again before the next run.
  void unset(const TensorRef& input);

  // Frees a weight's elements, which runs don't read any more: everything that needs them was
  // computed in the first run. After another weight is set it must be set again. UserError if runs
  // still read it.
  void release(const TensorRef& weight);
  // The same for every weight that no run reads any more; those that are still read stay.
  void release_folded();

  // One run with the dims' variables bound: run({{"s", 7}}).
  void run(const Bindings& bindings, const RunOptions& options = {});
  void run(const RunOptions& options = {});

  // The value of an output, a kept tensor or a leaf, contiguous. Elements convert to T as Cast
  // does. For a state, its current value: after a run, the new one.
  template <typename T>
  std::vector<T> get(const TensorRef& tensor) const {
    TensorData data = view_data(tensor).cast(dtype_of<T>());
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<int64_t> values = data.to_ints();
      return std::vector<bool>(values.begin(), values.end());
    } else {
      const auto* first = reinterpret_cast<const T*>(data.bytes.data());
      return std::vector<T>(first, first + data.bytes.size() / sizeof(T));
    }
  }
  TensorData get_data(const TensorRef& tensor) const;  // a copy, in the tensor's dtype
  std::string print(const TensorRef& tensor) const;    // nested brackets, long ones shortened

  // The same elements where they are, without a copy. The next run, set() or bind_output() of this
  // executable changes or frees them. T is the C++ type of the tensor's dtype.
  template <typename T>
  std::span<const T> view(const TensorRef& tensor) const {
    const TensorData data = view_data(tensor);
    check_view(tensor, dtype_of<T>());
    return {reinterpret_cast<const T*>(data.bytes.data()), data.bytes.size() / sizeof(T)};
  }
  TensorData view_data(const TensorRef& tensor) const;  // for any dtype, with the dims

  // Makes runs write this output to the caller's memory. It must be large enough for every run,
  // stay valid until unbind_output() or the executable's end, and overlap nothing else that a run
  // uses. Kernels write to it directly if it is aligned to 64 bytes; else results are copied to it
  // at the end of a run. Clones don't inherit it.
  template <typename R>
    requires ElementRange<R> && std::ranges::borrowed_range<R>
  void bind_output(const TensorRef& tensor, R&& memory) {
    bind_output(tensor, std::ranges::data(memory), std::ranges::size(memory));
  }
  template <typename T>
    requires(!std::is_const_v<T>)
  void bind_output(const TensorRef& tensor, T* memory, size_t count) {
    bind_output(tensor, dtype_of<T>(), std::as_writable_bytes(std::span(memory, count)));
  }
  // The same for any dtype, as bytes.
  void bind_output(const TensorRef& tensor, DType dtype, std::span<std::byte> memory);
  void unbind_output(const TensorRef& tensor);

  // Makes runs read and update this state in the caller's memory, which holds its value from now
  // on. It must have exactly the state's bytes in every run, and follow the rules of bind_output().
  // Clones get a copy of the value. set() writes to it. After unbind_state() the state is as if
  // it was never set.
  void bind_state(const TensorRef& state, DType dtype, std::span<std::byte> memory);
  void unbind_state(const TensorRef& state);

  // Whether runs copy between bound memory and their own, because it isn't aligned to 64 bytes.
  bool is_copied(const TensorRef& tensor) const;

  // Shares code and weights, with its own inputs, results and copy of the state.
  Executable clone() const;

 private:
  friend class Compilation;
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  Impl& impl() const;  // UserError after it was moved from
  void set_bytes(const TensorRef& tensor, DType dtype, std::span<const std::byte> bytes);
  void check_view(const TensorRef& tensor, DType dtype) const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal

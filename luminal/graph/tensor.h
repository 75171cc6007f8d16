// Tensor: a cheap handle to a node of a graph. What computes is a function (see composite/) and,
// where it is about one tensor, a method too: relu(x) and x.relu() are the same.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/element_range.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/options.h"

namespace luminal {

class LUMINAL_API Tensor {
 public:
  Tensor() = default;  // names nothing; using it is a UserError
  Tensor(Graph* graph, NodeId id) : home_(graph->held_home()), id_(id) {}

  Graph& graph() const;  // UserError once it is gone
  const std::shared_ptr<GraphHome>& home() const { return home_; }
  NodeId id() const { return id_; }
  bool valid() const { return home_ != nullptr; }
  const Node& node() const;
  DType dtype() const;
  const Dims& dims() const;
  const Dims& shape() const { return dims(); }
  int rank() const;
  Expr dim(int axis) const;  // negative axes count from the end
  Expr n_elements() const;
  std::string describe() const;

  // Views. None copies; each follows PyTorch's function of the same name. Axes may be negative.
  Tensor permute(std::span<const int> order) const;
  Tensor permute(std::initializer_list<int> order) const;
  Tensor transpose(int axis_a, int axis_b) const;
  Tensor t() const;                        // the last two axes swapped
  Tensor reshape(const Dims& dims) const;  // one dim may be -1
  Tensor flatten(int first = 0, int last = -1) const;
  Tensor squeeze(int axis) const;  // an axis of size 1 goes
  Tensor squeeze() const;          // all of them
  Tensor unsqueeze(int axis) const;
  Tensor expand(const Dims& dims) const;  // to more dims on the left too; -1 keeps a dim
  Tensor expand_as(const Tensor& other) const;
  Tensor merge_dims(int first, int count = 2) const;
  Tensor split_dims(int axis, std::span<const Expr> factors) const;
  Tensor split_dims(int axis, std::initializer_list<Expr> factors) const;
  // Elements start, start + step … before stop; negative constants count from the end, as Python.
  Tensor slice(int axis, Expr start, Expr stop, Expr step = 1) const;
  Tensor slice_from(int axis, Expr start) const;  // to the end
  Tensor select(int axis, Expr index) const;      // one of them, without the axis
  Tensor operator[](Expr index) const { return select(0, index); }
  Tensor narrow(int axis, Expr start, Expr size) const;
  // Windows of `size`, `step` apart, as a new last axis.
  Tensor unfold(int axis, Expr size, Expr step, Expr dilation = 1) const;
  Tensor flip(std::initializer_list<int> axes) const;  // the elements of each axis reversed
  Tensor roll(Expr shift, int axis) const;             // elements moved by `shift`, around the end
  Tensor repeat(const Dims& times) const;              // as PyTorch's: tiles

  Tensor cast(DType dtype) const;     // elements converted
  Tensor bitcast(DType dtype) const;  // the same bits as another dtype

  // Sets the elements of an input, weight or state, in row-major order, now or when first needed:
  // a vector, array or span, a pointer and a count, a nested list, or elements with their dims.
  template <ElementRange R>
  Tensor set(const R& values) const {
    return set(std::ranges::data(values), std::ranges::size(values));
  }
  template <typename T>
  Tensor set(const T* values, size_t count) const {
    return set_bytes(dtype_of<T>(), std::as_bytes(std::span(values, count)));
  }
  Tensor set(const NestedList& values) const;
  Tensor set(std::initializer_list<NestedList> values) const;
  Tensor set(TensorData data) const;
  Tensor set(DataLoader loader) const;

  // A name for messages, printing and drawing.
  Tensor name(std::string_view label) const;
  // Makes it an output under a name, unique among outputs; returns the tensor whose value that is.
  // For a state that is a view of it: the value that the run's nodes see, before the update.
  Tensor output(std::string_view name) const;
  // Makes its value readable after a run, and undoes that.
  Tensor keep() const;
  void drop() const;

  // Stores its value, once, in memory: a boundary between kernels, whatever the policy of fusing.
  Tensor materialize() const;

  // After each run prints count, shape and the first, middle and last five elements.
  Tensor print(std::string_view label) const;
  // After each run compares with a .npy file, or one of raw elements: NaN, mean, max, SSE,
  // p50/p95/p99 of the difference and the ten worst places.
  Tensor diff(std::string_view path, double atol = 1e-5, double rtol = 1e-5) const;

  // The operations as methods.
#include "luminal/graph/tensor_methods.inc"

  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Scalar& other);

 private:
  Tensor set_bytes(DType dtype, std::span<const std::byte> bytes) const;

  std::shared_ptr<GraphHome> home_;
  NodeId id_;
};

// 'x' f32[batch, 3]: its name, dtype and dims. Its value is the executable's: Executable::print.
LUMINAL_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace luminal

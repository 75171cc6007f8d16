// Shape: the layout of a tensor's elements in a buffer: dims, strides, an offset and, for views
// that strides can't express (a merge of permuted dims, padding), index and validity expressions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"
#include "luminal/shape/index_map.h"

namespace luminal {

class LUMINAL_API Shape {
 public:
  static constexpr int kMaxRank = 10;

  Shape();  // a scalar
  // Contiguous, row-major.
  explicit Shape(Dims dims);
  Shape(std::initializer_list<Expr> dims) : Shape(Dims(dims)) {}
  // A buffer with given strides (in elements; 0 repeats, negative runs backwards) and offset.
  static Shape strided(Dims dims, std::vector<Expr> strides, Expr offset = 0);

  int rank() const { return static_cast<int>(map_.dims().size()); }
  const Dims& dims() const { return map_.dims(); }
  Expr dim(int axis) const;  // negative axes count from the end
  // The stride of each dim, in elements; none if index() isn't affine.
  std::optional<std::vector<Expr>> strides() const;
  Expr offset() const;  // index() of the element at the origin

  // Views. Axes may be negative; a wrong argument is a UserError that says how to fix it.
  Shape permute(std::span<const int> order) const;
  Shape permute(std::initializer_list<int> order) const;
  Shape expand(const Dims& dims) const;
  Shape unsqueeze(int axis) const;
  Shape squeeze(int axis) const;
  Shape slice(int axis, Expr start, Expr stop, Expr step = 1) const;
  Shape flip(int axis) const;
  Shape pad(int axis, Expr before, Expr after) const;
  Shape merge(int first, int count) const;
  Shape split(int axis, std::span<const Expr> factors) const;
  Shape split(int axis, std::initializer_list<Expr> factors) const;
  Shape windows(int axis, Expr size, Expr step = 1, Expr dilation = 1) const;
  Shape reshape(const Dims& dims) const;

  bool is_contiguous() const;
  bool is_padded() const;
  Expr n_elements() const;
  // How many elements the buffer must hold so that every index is inside it.
  Expr n_physical_elements() const;
  // The same shape with variables replaced by their values.
  Shape resolve(const Bindings& bindings) const;

  // The position in the buffer of element (i0, i1, …), meaningful where valid() is 1.
  Expr index() const;
  // 1 where the element lies in the buffer, 0 where it is padding.
  Expr valid() const { return valid_; }
  std::string text() const;  // [2, 3] strides [3, 1]

 private:
  Shape(IndexMap map, std::vector<Expr> strides, Expr offset, Expr valid);
  Shape view(const IndexMap& map) const;

  IndexMap map_;               // from this view's index to the buffer's index
  std::vector<Expr> strides_;  // of the buffer's dims
  Expr offset_;
  Expr valid_;
};

}  // namespace luminal

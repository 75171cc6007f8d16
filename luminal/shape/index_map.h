// IndexMap: a view as a function from the view's index to the index into its source.
//
// One expression per source dim, over Index nodes i0, i1, … whose extents are the view's dims. Maps
// are total: every expression stays within its source dim (it wraps where it could leave it), so a
// map needs no validity predicate; padding is a map plus a predicate. The exception is a symbolic
// dim that is 0 at run time: pad then gives index 0, and a merge or reshape below a pad may divide
// by zero, which gives 0, but only at elements whose predicate is 0.
//
// Examples: transposing [2, 3] gives [i1, i0] over dims [3, 2]; rows 4 … 7 of [8, 3] give
// [i0 + 4, i1] over dims [4, 3]; flattening [2, 3] gives [i0 // 3, i0 % 3] over dims [6].
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

using Dims = std::vector<Expr>;

class LUMINAL_API IndexMap {
 public:
  // `exprs[k]`, over indices with the extents `dims`, is the index along source dim k.
  IndexMap(Dims dims, Dims source_dims, std::vector<Expr> exprs);

  // One function per kind of view, from the dims of the source. Callers check the user's arguments
  // and report errors; here a wrong argument is an internal error.
  static IndexMap identity(const Dims& source);
  static IndexMap permute(const Dims& source, std::span<const int> order);
  // Dims of size 1 repeat to `dims`; equal ones stay. Same rank.
  static IndexMap expand(const Dims& source, const Dims& dims);
  static IndexMap unsqueeze(const Dims& source, int axis);
  static IndexMap squeeze(const Dims& source, int axis);
  // `size` elements from `start` on with stride `step`, which may be negative.
  static IndexMap slice(const Dims& source, int axis, Expr start, Expr size, Expr step);
  static IndexMap flip(const Dims& source, int axis);
  // Shifts by `before` into a dim of `size`; positions outside the source wrap (see pad_valid).
  static IndexMap pad(const Dims& source, int axis, Expr before, Expr size);
  // The positions of a padded dim that lie inside the source, as a predicate over the new index.
  static Expr pad_valid(const Dims& source, int axis, Expr before, Expr size);
  // Axes [first, first + count) become one.
  static IndexMap merge(const Dims& source, int first, int count);
  // `axis` becomes `factors`, whose product is its size.
  static IndexMap split(const Dims& source, int axis, std::span<const Expr> factors);
  // Sliding windows (im2col): `axis` becomes two, the window's position (stride `step`) in its
  // place and, as the last dim of the view, the offset in the window (`dilation` apart).
  static IndexMap windows(const Dims& source, int axis, Expr size, Expr step, Expr dilation);
  // Any dims with as many elements, in row-major order.
  static IndexMap reshape(const Dims& source, const Dims& dims);

  const Dims& dims() const { return dims_; }
  const Dims& source_dims() const { return source_dims_; }
  const std::vector<Expr>& exprs() const { return exprs_; }

  // The view of a view: `outer` reads from the result of `inner`.
  static IndexMap compose(const IndexMap& outer, const IndexMap& inner);
  // Rewrites an expression over the source's indices to one over the view's.
  Expr apply(Expr over_source) const;
  bool is_identity() const;
  std::string text() const;  // [i1, i0 + 2]
  friend bool operator==(const IndexMap& a, const IndexMap& b) = default;

 private:
  Dims dims_, source_dims_;
  std::vector<Expr> exprs_;
};

// "[s, 64]"
LUMINAL_API std::string text(const Dims& dims);
LUMINAL_API std::ostream& operator<<(std::ostream& out, const Dims& dims);  // as text()
LUMINAL_API Expr n_elements(const Dims& dims);
// Row-major strides of contiguous dims, in elements.
LUMINAL_API std::vector<Expr> contiguous_strides(const Dims& dims);
// Whether both have the same rank and the same canonical extents.
LUMINAL_API bool same_dims(const Dims& a, const Dims& b);

}  // namespace luminal

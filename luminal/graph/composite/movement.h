// Element movement that needs more than one view: padding, concatenation, splitting, triangles.
#pragma once

#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/options.h"
#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// x surrounded by `value`, one Padding per axis.
LUMINAL_API Tensor pad(const Tensor& x, const std::vector<Padding>& paddings,
                       const Scalar& value = 0);
// x padded along one axis.
LUMINAL_API Tensor pad_axis(const Tensor& x, int axis, const Padding& padding,
                            const Scalar& value = 0);

// The tensors concatenated along an axis, promoted to one dtype; other dims must be equal.
LUMINAL_API Tensor concat(const std::vector<Tensor>& tensors, int axis = 0);
// Tensors of equal dims concatenated along a new axis.
LUMINAL_API Tensor stack(const std::vector<Tensor>& tensors, int axis = 0);
// At most `count` pieces of equal size (the last may be smaller).
LUMINAL_API std::vector<Tensor> chunk(const Tensor& x, int count, int axis = 0);
// Pieces of `size` (the last may be smaller), or of the given sizes.
LUMINAL_API std::vector<Tensor> split(const Tensor& x, int size, int axis = 0);
LUMINAL_API std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& sizes,
                                      int axis = 0);

// The part on and below (above) a diagonal of the last two axes, else 0; diagonal k is at (0, k).
LUMINAL_API Tensor tril(const Tensor& x, Expr diagonal = 0);
LUMINAL_API Tensor triu(const Tensor& x, Expr diagonal = 0);

}  // namespace luminal

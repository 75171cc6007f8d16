// The primitives as functions: strict (equal dims, equal dtypes), one node each. Composites are
// written with these and with each other; users mostly want composite/.
#pragma once

#include <optional>

#include "luminal/graph/tensor.h"

namespace luminal::prim {

LUMINAL_API Tensor exp2(const Tensor& x);
LUMINAL_API Tensor log2(const Tensor& x);
LUMINAL_API Tensor sin(const Tensor& x);
LUMINAL_API Tensor recip(const Tensor& x);
LUMINAL_API Tensor sqrt(const Tensor& x);
LUMINAL_API Tensor add(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor mul(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor mod(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor int_div(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor bit_and(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor less_than(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor equal(const Tensor& a, const Tensor& b);
LUMINAL_API Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b);
LUMINAL_API Tensor cast(const Tensor& x, DType dtype);  // x itself if it has that dtype
LUMINAL_API Tensor bitcast(const Tensor& x, DType dtype);
LUMINAL_API Tensor view(const Tensor& x, IndexMap map);  // x itself under the identity
// Along the innermost dim.
LUMINAL_API Tensor reduce(const Tensor& x, Reducer reducer);
LUMINAL_API Tensor scan(const Tensor& x, Reducer reducer);
LUMINAL_API Tensor gather(const Tensor& data, const Tensor& index);  // rows of `data` by index
LUMINAL_API Tensor scatter(const Tensor& dest, const Tensor& index, const Tensor& values,
                           std::optional<Reducer> combine = std::nullopt);  // rows written
// The value of `expr`, over Expr::index(k, dims[k]), at each index.
LUMINAL_API Tensor iota(Graph& graph, Expr expr, Dims dims, DType dtype);
// A scalar, repeated to `dims`.
LUMINAL_API Tensor full(Graph& graph, const Dims& dims, const Scalar& value, DType dtype);
// A scalar with the dims and dtype of `like`.
LUMINAL_API Tensor full_like(const Tensor& like, const Scalar& value);

}  // namespace luminal::prim

// Reading and writing by index, and tensors made from indices. Index tensors are i64 or i32, with
// values in [0, n).
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/options.h"
#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Rows of `weight` [n, d], one per index: [index dims…, d].
LUMINAL_API Tensor embedding(const Tensor& weight, const Tensor& index);
// torch.gather: result[i][j] = x[index[i][j]][j] for axis 0; the result has index's dims.
LUMINAL_API Tensor gather(const Tensor& x, int axis, const Tensor& index);
// The slices of x along `axis` selected by a 1-D index.
LUMINAL_API Tensor index_select(const Tensor& x, int axis, const Tensor& index);
// torch.scatter: x with x[index[i][j]][j] = src[i][j] for axis 0; the last of equal indices wins.
LUMINAL_API Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src);
LUMINAL_API Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Scalar& src);
// Like scatter, but adds.
LUMINAL_API Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src);

// x with the rows (axis 0) selected by `index` replaced by `values`, which broadcast to [index
// dims…, row dims…].
LUMINAL_API Tensor index_put(const Tensor& x, const Tensor& index, const Tensor& values,
                             const IndexPutOptions& options = {});
// x with `value` where `mask` (bool, broadcast to x) is true.
LUMINAL_API Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);

// 0 … end - 1.
LUMINAL_API Tensor arange(Graph& graph, Expr end, DType dtype = DType::I64);
// start, start + step … before end.
LUMINAL_API Tensor arange(Graph& graph, Expr start, Expr end, Expr step = 1,
                          DType dtype = DType::I64);
// Ones on the main diagonal of [n, n], or of [rows, columns].
LUMINAL_API Tensor eye(Graph& graph, Expr n, DType dtype = DType::F32);
LUMINAL_API Tensor eye(Graph& graph, Expr rows, Expr columns, DType dtype = DType::F32);
// 1 at each index along a new last axis of size `classes`, else 0; i64.
LUMINAL_API Tensor one_hot(const Tensor& index, Expr classes);
LUMINAL_API Tensor full(Graph& graph, const Dims& dims, const Scalar& value,
                        DType dtype = DType::F32);  // `value` everywhere
LUMINAL_API Tensor zeros(Graph& graph, const Dims& dims, DType dtype = DType::F32);  // all 0
LUMINAL_API Tensor ones(Graph& graph, const Dims& dims, DType dtype = DType::F32);   // all 1

}  // namespace luminal

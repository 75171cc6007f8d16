// Sequences of numbers, and tensors without elements of their own.
#include <algorithm>
#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

Tensor end_of(const Arguments& of, size_t i) {
  if (of.is_tensor(i)) return of.tensor(i).cast(DType::F64);
  return full(of.graph(), {}, of.scalar(i), DType::F64);
}

// From both ends to the middle, as PyTorch: the last one is exact.
Tensor evenly_spaced(const Arguments& of) {
  const Expr steps = of.size(2);
  const Tensor start = end_of(of, 0), end = end_of(of, 1);
  const Tensor index = arange(of.graph(), steps, DType::F64);
  if (steps.is(0)) return index;
  if (steps.is(1)) return start.unsqueeze(0);
  const Tensor step = (end - start) / Scalar(steps - 1);
  const Tensor last = full(of.graph(), {}, Scalar(steps - 1), DType::F64);
  const Tensor is_first_half = index < Scalar(steps / 2);
  return where(is_first_half, start + step * index, end - step * (last - index));
}

// Of integers each number is cut off: an ulp of a quotient would be another integer.
DType float_asked(const Arguments& of, size_t i) {
  const DType dtype = of.maybe_dtype(i).value_or(DType::F32);
  if (!is_float(dtype)) throw UserError("its dtype isn't a float, which isn't supported");
  return dtype;
}

Values line(const Arguments& of) {
  const DType dtype = float_asked(of, 3);
  return {evenly_spaced(of).cast(dtype)};
}

Values powers(const Arguments& of) {
  const DType dtype = float_asked(of, 4);
  const Tensor exponents = evenly_spaced(of);
  return {pow(Scalar(of.real(3)), exponents).cast(dtype)};
}

Values identity(const Arguments& of) {
  return {eye(of.graph(), of.size(0), of.maybe_dtype(1).value_or(DType::F32))};
}

Values wide_identity(const Arguments& of) {
  return {eye(of.graph(), of.size(0), of.size(1), of.maybe_dtype(2).value_or(DType::F32))};
}

Values zeros_of_size(const Arguments& of) {
  return {full(of.graph(), of.sizes(0), 0, of.maybe_dtype(2).value_or(DType::F32))};
}

template <size_t kDType>
Values zeros_like_of_size(const Arguments& of) {
  return {full(of.graph(), of.sizes(1), 0, of.maybe_dtype(kDType).value_or(of.tensor(0).dtype()))};
}

Values repeated(const Arguments& of) {
  Tensor x = of.tensor(0);
  const Expr times = of.size(1);
  if (of.is_none(2)) x = x.flatten();
  int axis = of.is_none(2) ? 0 : of.integer(2);
  if (axis < 0) axis += x.rank();
  Dims dims = x.unsqueeze(axis + 1).dims();
  dims[static_cast<size_t>(axis) + 1] = times;
  return {x.unsqueeze(axis + 1).expand(dims).merge_dims(axis)};
}

Values turned(const Arguments& of) {
  Tensor x = of.tensor(0);
  const int times = ((of.integer(1) % 4) + 4) % 4;
  std::vector<int> axes = of.integers(2);
  if (axes.empty()) axes = {0, 1};
  if (axes.size() != 2) throw UserError("it turns two axes");
  if (times == 2) return {x.flip({axes[0]}).flip({axes[1]})};
  if (times == 1) return {x.flip({axes[1]}).transpose(axes[0], axes[1])};
  if (times == 3) return {x.transpose(axes[0], axes[1]).flip({axes[1]})};
  return {x};
}

Values differences(const Arguments& of) {
  Tensor x = of.tensor(0);
  const int axis = of.integer(2);
  if (const auto before = of.maybe_tensor(3))
    x = concat({*before, x}, axis < 0 ? axis + x.rank() : axis);
  if (const auto after = of.maybe_tensor(4))
    x = concat({x, *after}, axis < 0 ? axis + x.rank() : axis);
  for (int i = 0; i < of.integer(1); ++i) {
    const Expr n = x.dim(axis) - 1;
    const Tensor next = x.narrow(axis, 1, n), here = x.narrow(axis, 0, n);
    x = x.dtype() == DType::Bool ? logical_xor(next, here) : next - here;
  }
  return {x};
}

// Ones on and below (above) a diagonal, as the rows and columns of their places.
template <bool kLower>
Values triangle_places(const Arguments& of) {
  const int64_t rows = of.integer(0), columns = of.integer(1), offset = of.integer(2);
  const DType dtype = of.maybe_dtype(3).value_or(DType::I64);
  std::vector<Tensor> row_parts, column_parts;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t from = kLower ? 0 : std::clamp<int64_t>(row + offset, 0, columns);
    const int64_t to = kLower ? std::clamp<int64_t>(row + offset + 1, 0, columns) : columns;
    if (from >= to) continue;
    row_parts.push_back(full(of.graph(), {Expr(to - from)}, row, dtype));
    column_parts.push_back(arange(of.graph(), from, to, 1, dtype));
  }
  if (row_parts.empty()) return {full(of.graph(), {2, 0}, 0, dtype)};
  return {stack({concat(row_parts), concat(column_parts)})};
}

constexpr OpEntry kSequenceOps[] = {
    {"aten.linspace.default",
     "start, end, steps, dtype=None, layout=None, device=None, pin_memory=None", line},
    {"aten.linspace.Tensor_Tensor",
     "start, end, steps, dtype=None, layout=None, device=None, pin_memory=None", line},
    {"aten.linspace.Tensor_Scalar",
     "start, end, steps, dtype=None, layout=None, device=None, pin_memory=None", line},
    {"aten.linspace.Scalar_Tensor",
     "start, end, steps, dtype=None, layout=None, device=None, pin_memory=None", line},
    {"aten.logspace.default",
     "start, end, steps, base=10.0, dtype=None, layout=None, device=None, pin_memory=None", powers},
    {"aten.logspace.Tensor_Tensor",
     "start, end, steps, base=10.0, dtype=None, layout=None, device=None, pin_memory=None", powers},
    {"aten.logspace.Tensor_Scalar",
     "start, end, steps, base=10.0, dtype=None, layout=None, device=None, pin_memory=None", powers},
    {"aten.logspace.Scalar_Tensor",
     "start, end, steps, base=10.0, dtype=None, layout=None, device=None, pin_memory=None", powers},
    {"aten.eye.default", "n, dtype=None, layout=None, device=None, pin_memory=None", identity},
    {"aten.eye.m", "n, m, dtype=None, layout=None, device=None, pin_memory=None", wide_identity},
    {"aten.empty_permuted.default",
     "size, physical_layout, dtype=None, layout=None, device=None, pin_memory=None", zeros_of_size},
    {"aten.empty_strided.default",
     "size, stride, dtype=None, layout=None, device=None, pin_memory=None", zeros_of_size},
    {"aten.new_empty.default", "self, size, dtype=None, layout=None, device=None, pin_memory=None",
     zeros_like_of_size<2>},
    {"aten.new_empty_strided.default",
     "self, size, stride, dtype=None, layout=None, device=None, pin_memory=None",
     zeros_like_of_size<3>},
    {"aten.repeat_interleave.self_int", "self, repeats, dim=None, output_size=None", repeated},
    {"aten.rot90.default", "self, k=1, dims=[]", turned},
    {"aten.diff.default", "self, n=1, dim=-1, prepend=None, append=None", differences},
    {"aten.tril_indices.default",
     "row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=None",
     triangle_places<true>},
    {"aten.triu_indices.default",
     "row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=None",
     triangle_places<false>},
};

}  // namespace

std::span<const OpEntry> sequence_ops() { return kSequenceOps; }

}  // namespace luminal::pytorch

// Linear systems, sums of products by index, and products of rows grouped by expert.
#include "luminal/graph/algorithms/linear_algebra.h"

#include <algorithm>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/graph/algorithms/sort.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

bool is_zero(const Scalar& scalar) {
  return scalar.kind != Scalar::Kind::Symbolic && scalar.real == 0;
}

// beta · self + alpha · product, rounded once; a beta of 0 drops self, NaN too.
Tensor added(const Arguments& of, const Tensor& product, DType dtype) {
  const Scalar beta = of.scalar(3), alpha = of.scalar(4);
  const Tensor scaled = (product * alpha).cast(product.dtype());
  if (is_zero(beta)) return scaled.cast(dtype);
  return ((of.tensor(0).cast(product.dtype()) * beta).cast(product.dtype()) + scaled).cast(dtype);
}

Tensor accumulated(const Tensor& x) { return is_half(x.dtype()) ? x.cast(DType::F32) : x; }

Values vector_product_added(const Arguments& of) {
  return {added(of, matmul(accumulated(of.tensor(1)), accumulated(of.tensor(2))),
                of.tensor(1).dtype())};
}

Values outer_product_added(const Arguments& of) {
  const Tensor a = accumulated(of.tensor(1)), b = accumulated(of.tensor(2));
  return {added(of, a.unsqueeze(1) * b.unsqueeze(0), of.tensor(0).dtype())};
}

Values batch_product_added(const Arguments& of) {
  const Tensor all = matmul(accumulated(of.tensor(1)), accumulated(of.tensor(2)));
  return {added(of, sum(all, 0).cast(all.dtype()), of.tensor(1).dtype())};
}

Values crossed(const Arguments& of) {
  const auto [a, b] = broadcast_together(of.tensor(0), of.tensor(1));
  const int axis = composite::normalize_axis("cross", of.integer(2), a.dims());
  if (!a.dim(axis).is(3)) throw UserError("its axis isn't of 3 elements");
  const DType dtype = a.dtype();
  const Tensor x = accumulated(a), y = accumulated(b);
  const Tensor one = x.roll(-1, axis) * y.roll(-2, axis);
  const Tensor other = x.roll(-2, axis) * y.roll(-1, axis);
  return {(one - other).cast(dtype)};
}

// (i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)
Values trilinear(const Arguments& of) {
  std::vector<Tensor> factors;
  for (size_t i = 0; i < 3; ++i) {
    std::vector<int> axes = of.integers(3 + i);
    std::sort(axes.begin(), axes.end());
    Tensor factor = accumulated(of.tensor(i));
    for (int axis : axes) factor = factor.unsqueeze(axis);
    factors.push_back(factor);
  }
  const Tensor product = factors[0] * factors[1] * factors[2];
  return {sum(product, Axes(of.integers(6))).cast(of.tensor(0).dtype())};
}

// Rows by group: group e has the rows from offs[e - 1] to offs[e] - 1, those past the last are 0.
Tensor grouped_product(const Tensor& x, const Tensor& weight, const Tensor& offs) {
  if (x.rank() != 2 || weight.rank() != 3 || offs.rank() != 1) {
    throw UserError("it isn't of rows [s, d], weights [e, d, o] and offsets [e]");
  }
  const Tensor row = arange(x.graph(), x.dim(0));
  const Tensor ends = offs.cast(DType::I64);
  // The number of groups that end at or before a row.
  const Tensor group = sum((ends.unsqueeze(0) <= row.unsqueeze(1)).cast(DType::I64), 1);
  const Expr last = weight.dim(0) - 1;
  const Tensor inside = group <= Scalar(last);
  const Tensor own = prim::gather(weight, where(inside, group, Scalar(last)));
  const Tensor product = matmul(x.unsqueeze(1), own).squeeze(1);
  return where(inside.unsqueeze(1), product, 0).cast(x.dtype());
}

Values grouped(const Arguments& of) {
  return {grouped_product(of.tensor(0), of.tensor(1), of.tensor(2))};
}

Values grouped_with_bias(const Arguments& of) {
  if (of.is_none(2) || !of.is_none(3)) throw UserError("it has no offsets, or a bias");
  Tensor result = grouped_product(of.tensor(0), of.tensor(1), of.tensor(2));
  if (const auto dtype = of.maybe_dtype(4)) result = result.cast(*dtype);
  return {result};
}

// An operand of einsum: its letters, each once.
struct Labelled {
  Tensor tensor;
  std::string labels;
};

// With the axes in the order of `labels`; those it lacks have size 1.
Tensor aligned(const Labelled& x, const std::string& labels) {
  std::vector<int> order;
  for (char label : labels) {
    const size_t at = x.labels.find(label);
    if (at != std::string::npos) order.push_back(static_cast<int>(at));
  }
  Tensor result = x.tensor.permute(order);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (x.labels.find(labels[i]) == std::string::npos)
      result = result.unsqueeze(static_cast<int>(i));
  }
  return result;
}

// Sums over what neither the result nor another operand has.
Labelled summed(const Labelled& x, const std::string& kept) {
  std::vector<int> axes;
  Labelled result{.tensor = x.tensor, .labels = {}};
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (kept.find(x.labels[i]) == std::string::npos)
      axes.push_back(static_cast<int>(i));
    else
      result.labels += x.labels[i];
  }
  if (!axes.empty()) result.tensor = sum(x.tensor, Axes(axes)).cast(x.tensor.dtype());
  return result;
}

// Of two operands one matrix product: [both and kept, of one, of the other, summed].
Labelled contracted(const Labelled& a, const Labelled& b, const std::string& kept) {
  std::string batch, rows, columns, inner;
  for (char label : a.labels) {
    const bool in_b = b.labels.find(label) != std::string::npos;
    const bool in_result = kept.find(label) != std::string::npos;
    (in_b && in_result ? batch : in_b ? inner : rows) += label;
  }
  for (char label : b.labels) {
    if (a.labels.find(label) == std::string::npos) columns += label;
  }
  const auto grouped_dims = [](const Tensor& x, size_t first, size_t second, size_t third) {
    const Dims dims = x.dims();
    Dims result(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(first));
    const auto product = [&](size_t from, size_t count) {
      Expr size = 1;
      for (size_t i = from; i < from + count; ++i) size = size * dims[i];
      return size;
    };
    result.push_back(product(first, second));
    result.push_back(product(first + second, third));
    return result;
  };
  const Tensor left = aligned(a, batch + rows + inner), right = aligned(b, batch + inner + columns);
  const Tensor product =
      matmul(left.reshape(grouped_dims(left, batch.size(), rows.size(), inner.size())),
             right.reshape(grouped_dims(right, batch.size(), inner.size(), columns.size())));
  Dims dims;
  const std::string labels = batch + rows + columns;
  for (char label : labels) {
    const size_t at = a.labels.find(label);
    dims.push_back(at != std::string::npos ? a.tensor.dim(static_cast<int>(at))
                                           : b.tensor.dim(static_cast<int>(b.labels.find(label))));
  }
  return {product.reshape(dims), labels};
}

Values einstein_sum(const Arguments& of) {
  std::string equation = of.word(0);
  std::erase(equation, ' ');
  const std::vector<Tensor> operands = of.tensors(1);
  const size_t arrow = equation.find("->");
  if (equation.find('.') != std::string::npos || arrow == std::string::npos) {
    throw UserError("its equation has an ellipsis or no result, which isn't supported");
  }
  const std::string result = equation.substr(arrow + 2);
  std::vector<Labelled> all;
  std::string terms = equation.substr(0, arrow) + ",";
  for (const Tensor& operand : operands) {
    const size_t comma = terms.find(',');
    if (comma == std::string::npos) throw UserError("its equation has too few operands");
    const std::string labels = terms.substr(0, comma);
    terms.erase(0, comma + 1);
    std::string once = labels;
    std::ranges::sort(once);
    if (std::ranges::adjacent_find(once) != once.end() ||
        static_cast<int>(labels.size()) != operand.rank()) {
      throw UserError("an operand of its equation names an axis twice, or too few");
    }
    all.push_back({operand, labels});
  }
  for (char label : result) {
    const auto has = [&](const Labelled& each) {
      return each.labels.find(label) != std::string::npos;
    };
    if (std::ranges::none_of(all, has)) throw UserError("no operand has an axis of its result");
  }
  Labelled product = all.front();
  for (size_t i = 1; i < all.size(); ++i) {
    std::string later = result;
    for (size_t j = i + 1; j < all.size(); ++j) later += all[j].labels;
    product = contracted(summed(product, later + all[i].labels),
                         summed(all[i], later + product.labels), later);
  }
  return {aligned(summed(product, result), result)};
}

// (A, B, upper, left, unitriangular)
Tensor triangular_solution(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  const Tensor inverse = triangular_inverse(a.cast(DType::F64), upper, unit);
  const Tensor other = b.cast(DType::F64);
  return (left ? matmul(inverse, other) : matmul(other, inverse)).cast(b.dtype());
}

Values triangular_solved(const Arguments& of) {
  return {triangular_solution(of.tensor(0), of.tensor(1), of.flag(2), of.flag(3), of.flag(4))};
}

// (b, A, upper, transpose, unitriangular), with a copy of A
Values old_triangular_solved(const Arguments& of) {
  const bool transposed = of.flag(3), upper = of.flag(2);
  const Tensor a = transposed ? of.tensor(1).t() : of.tensor(1);
  return {triangular_solution(a, of.tensor(0), upper != transposed, true, of.flag(4)),
          of.tensor(1)};
}

Values inverted(const Arguments& of) {
  const Tensor a = of.tensor(0);
  const Tensor one = eye(of.graph(), a.dim(-1), a.dtype()).expand(Dims(a.dims()));
  const Eliminated found = eliminated(a, one);
  return {found.solution, found.info};
}

Values solved(const Arguments& of) {
  Tensor a = of.tensor(0), b = of.tensor(1);
  const bool left = of.flag(2);
  const Dims dims = a.dims();
  const bool is_vector = b.rank() == 1 || (b.rank() + 1 == a.rank() &&
                                           same_dims(b.dims(), Dims(dims.begin(), dims.end() - 1)));
  if (is_vector) b = b.unsqueeze(-1);
  if (!left) {
    a = a.t();
    b = b.t();
  }
  // Both have the same batch.
  const Dims batch = broadcast_dims(Dims(a.dims().begin(), a.dims().end() - 2),
                                    Dims(b.dims().begin(), b.dims().end() - 2));
  const auto with_batch = [&](const Tensor& x) {
    Dims whole = batch;
    whole.insert(whole.end(), x.dims().end() - 2, x.dims().end());
    return x.expand(whole);
  };
  const Eliminated found = eliminated(with_batch(a), with_batch(b));
  Tensor x = found.solution;
  if (!left) x = x.t();
  if (is_vector) x = x.squeeze(-1);
  return {x, Value(), Value(), found.info};
}

Eliminated of_no_columns(const Tensor& a) {
  return eliminated(a, a.narrow(-1, 0, a.dim(-1).is(0) ? 0 : 1));
}

Values cholesky_factor(const Arguments& of) {
  const Tensor a = of.tensor(0);
  const Cholesky found = cholesky(of.flag(1) ? a.t() : a);
  return {of.flag(1) ? found.factor.t() : found.factor, found.info};
}

// The inverse of a = l lᵀ, or of uᵀ u, by the inverse of the factor.
Tensor inverse_by_factor(const Tensor& factor, bool upper) {
  const Tensor inverse = triangular_inverse(factor.cast(DType::F64), upper);
  return upper ? matmul(inverse, inverse.t()) : matmul(inverse.t(), inverse);
}

Values lu_factors(const Arguments& of) {
  const Factored found = lu_factored(of.tensor(0), of.flag(1));
  return {found.lu, found.pivots, found.info};
}

// P, L and U of factors [… m, n] in one tensor: P has a 1 where a row of the result came from.
Values unpacked(const Tensor& lu, const Tensor& pivots) {
  const Expr rows = lu.dim(-2), steps = min(rows, lu.dim(-1));
  const Tensor order = permutation_of(pivots, rows);
  const Tensor all = arange(lu.graph(), rows).unsqueeze(-1);
  const Tensor p = eq(all, order.unsqueeze(-2)).cast(lu.dtype());
  const Tensor one = eye(lu.graph(), rows, steps, lu.dtype());
  const Tensor l = tril(lu.narrow(-1, 0, steps), -1) + one;
  return {p, l, triu(lu.narrow(-2, 0, steps))};
}

Values lu_parts(const Arguments& of) {
  if (!of.flag(1)) throw UserError("it is without pivots, which isn't supported");
  const Factored found = lu_factored(of.tensor(0), true);
  return unpacked(found.lu, found.pivots);
}

Values lu_unpacked(const Arguments& of) {
  if (!of.flag(2) || !of.flag(3)) throw UserError("it unpacks only a part, which isn't supported");
  return unpacked(of.tensor(0), of.tensor(1));
}

// x of a x = b, or of aᵀ x = b, for a = p l u.
Tensor solved_by_lu(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed) {
  const Tensor order = permutation_of(pivots, lu.dim(-1));
  const Tensor place = arange(lu.graph(), lu.dim(-1));
  const Tensor back = eq(place, order.unsqueeze(-1)).cast(DType::F64);  // pᵀ
  const Tensor l = triangular_inverse(lu, false, true), u = triangular_inverse(lu, true);
  if (transposed) return matmul(back.t(), matmul(l.t(), matmul(u.t(), b)));
  return matmul(u, matmul(l, matmul(back, b)));
}

// (LU, pivots, B, left, adjoint)
Values lu_solved(const Arguments& of) {
  const Tensor lu = of.tensor(0).cast(DType::F64), b = of.tensor(2).cast(DType::F64);
  const bool left = of.flag(3), adjoint = of.flag(4);
  const Tensor x = left ? solved_by_lu(lu, of.tensor(1), b, adjoint)
                        : solved_by_lu(lu, of.tensor(1), b.t(), !adjoint).t();
  return {x.cast(of.tensor(2).dtype())};
}

constexpr OpEntry kLinearAlgebraOps[] = {
    {"aten.addmv.default", "self, mat, vec, beta=1, alpha=1", vector_product_added},
    {"aten.addmm.default", "self, mat1, mat2, beta=1, alpha=1", vector_product_added},
    {"aten.baddbmm.default", "self, batch1, batch2, beta=1, alpha=1", vector_product_added},
    {"aten.addr.default", "self, vec1, vec2, beta=1, alpha=1", outer_product_added},
    {"aten.addbmm.default", "self, batch1, batch2, beta=1, alpha=1", batch_product_added},
    {"aten.linalg_cross.default", "self, other, dim=-1", crossed},
    {"aten._trilinear.default", "i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1",
     trilinear},
    {"transformers.grouped_mm_fallback.default", "input, weight, offs", grouped},
    {"aten._grouped_mm.default", "self, mat2, offs=None, bias=None, out_dtype=None",
     grouped_with_bias},
    {"aten.einsum.default", "equation, tensors, path=None", einstein_sum},
    {"aten.linalg_solve_triangular.default", "self, B, upper, left=True, unitriangular=False",
     triangular_solved},
    {"aten.triangular_solve.default", "self, A, upper=True, transpose=False, unitriangular=False",
     old_triangular_solved},
    {"aten.linalg_inv_ex.default", "A, check_errors=False", inverted},
    {"aten._linalg_solve_ex.default", "A, B, left=True, check_errors=False", solved},
    {"aten._linalg_det.default", "A",
     [](const Arguments& of) -> Values { return {of_no_columns(of.tensor(0)).determinant}; }},
    {"aten.linalg_det.default", "A",
     [](const Arguments& of) -> Values { return {of_no_columns(of.tensor(0)).determinant}; }},
    {"aten._linalg_slogdet.default", "A",
     [](const Arguments& of) -> Values {
       const Eliminated found = of_no_columns(of.tensor(0));
       return {found.sign, found.log_size};
     }},
    {"aten.linalg_lu_factor_ex.default", "A, pivot=True, check_errors=False", lu_factors},
    {"aten.linalg_lu.default", "A, pivot=True", lu_parts},
    {"aten.lu_unpack.default", "LU_data, LU_pivots, unpack_data=True, unpack_pivots=True",
     lu_unpacked},
    {"aten.linalg_lu_solve.default", "LU, pivots, B, left=True, adjoint=False", lu_solved},
    {"aten.linalg_cholesky_ex.default", "self, upper=False, check_errors=False", cholesky_factor},
    {"aten.cholesky.default", "self, upper=False",
     [](const Arguments& of) -> Values { return {cholesky_factor(of)[0]}; }},
    {"aten.cholesky_inverse.default", "self, upper=False",
     [](const Arguments& of) -> Values {
       return {inverse_by_factor(of.tensor(0), of.flag(1)).cast(of.tensor(0).dtype())};
     }},
    {"aten.cholesky_solve.default", "self, input2, upper=False",
     [](const Arguments& of) -> Values {
       const Tensor b = of.tensor(0);
       return {
           matmul(inverse_by_factor(of.tensor(1), of.flag(2)), b.cast(DType::F64)).cast(b.dtype())};
     }},
    {"aten._linalg_check_errors.default", "info, api_name, is_matrix",
     [](const Arguments&) -> Values { return {}; }},
};

}  // namespace

std::span<const OpEntry> linear_algebra_ops() { return kLinearAlgebraOps; }

}  // namespace luminal::pytorch

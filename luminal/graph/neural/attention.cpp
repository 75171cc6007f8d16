#include "luminal/graph/composite/attention.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor& x : {q, k, v}) {
    composite::check_float(kName, x);
    if (x.rank() < 2 || x.dtype() != q.dtype()) {
      throw UserError(fmt::format(
          "{}: q, k and v must be [… heads, length, size] of one dtype, but {} is {}{}; "
          "reshape or cast it",
          kName, x.describe(), name(x.dtype()), text(x.dims())));
    }
  }
  if (q.dim(-1) != k.dim(-1) || k.dim(-2) != v.dim(-2)) {
    throw UserError(
        fmt::format("{}: q and k must agree in their last axis, k and v in the one "
                    "before, but q is {}, k is {}, v is {}",
                    kName, text(q.dims()), text(k.dims()), text(v.dims())));
  }
}

// Repeats each kv head for its query heads (GQA): head h of the result is head h / repeats of x.
Tensor repeat_heads(const Tensor& x, const Tensor& q) {
  if (x.rank() < 3 || q.rank() < 3 || x.dim(-3) == q.dim(-3) || x.dim(-3).is(1)) return x;
  const Expr repeats = q.dim(-3) / x.dim(-3);
  if (repeats * x.dim(-3) != q.dim(-3)) {
    throw UserError(
        fmt::format("{}: {} query heads aren't a multiple of {} kv heads; check the "
                    "head counts",
                    kName, q.dim(-3).text(), x.dim(-3).text()));
  }
  const int heads = x.rank() - 3;
  const Tensor apart = x.unsqueeze(heads + 1);
  Dims dims = apart.dims();
  dims[static_cast<size_t>(heads + 1)] = repeats;
  return apart.expand(dims).merge_dims(heads);
}

// Which keys (last axis) each query (the axis before) attends to by position alone.
std::optional<Expr> visible(const Dims& scores, const AttentionOptions& options) {
  if (!options.causal && !options.window) return std::nullopt;
  const int rank = static_cast<int>(scores.size());
  const Expr last = Expr::index(rank - 2, scores[scores.size() - 2]) + options.past;
  const Expr key = Expr::index(rank - 1, scores.back());
  Expr result = last >= key;
  if (options.window) result = result && key + *options.window >= last + 1;
  return result;
}

// Whether some query may have no key to attend to. By position alone that takes a window that ends
// before the last query's; a cache (`past` is a variable) holds the key of every query.
bool may_see_nothing(const Dims& scores, const AttentionOptions& options) {
  if (options.mask) return true;
  if (!options.window || !options.past.to_int()) return false;
  const Expr queries = scores[scores.size() - 2];
  return !known_less(queries + options.past - *options.window, scores.back());
}

// softmax along the last axis, but 0 in rows without a key to attend to.
Tensor masked_softmax(const Tensor& scores) {
  const Tensor greatest = max(scores, -1, {.keepdim = true});
  const Tensor e = exp(scores - where(eq(greatest, kMinusInfinity), 0.0, greatest));
  const Tensor total = sum(e, -1, {.keepdim = true});
  return e / where(eq(total, 0), 1.0, total);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  check_operands(q, k, v);
  const DType dtype = q.dtype();
  const DType compute = composite::compute_dtype(dtype);
  const Tensor keys = repeat_heads(k, q).cast(compute);
  const Tensor values = repeat_heads(v, q).cast(compute);

  Tensor scores = matmul(q.cast(compute), keys.t());
  if (options.scale) {
    scores = scores * *options.scale;
  } else if (const auto size = q.dim(-1).to_int()) {
    scores = scores * (1 / std::sqrt(static_cast<double>(*size)));
  } else {
    scores = scores * rsqrt(q.graph().constant(q.dim(-1), compute));
  }
  if (const auto predicate = visible(scores.dims(), options)) {
    const Tensor seen = prim::iota(q.graph(), *predicate, Dims(scores.dims()), DType::Bool);
    scores = where(seen, scores, kMinusInfinity);
  }
  if (options.mask && options.mask->dtype() == DType::Bool) {
    scores = where(*options.mask, scores, kMinusInfinity);
  } else if (options.mask) {
    scores = scores + options.mask->cast(compute);
  }
  const bool is_careful = may_see_nothing(scores.dims(), options);
  const Tensor weights = is_careful ? masked_softmax(scores) : softmax(scores, -1);
  return matmul(weights, values).cast(dtype);
}

}  // namespace luminal

// The methods of Tensor that forward to functions. Made by tools/tensor-methods.py --write from the
// headers of composite/: don't edit.
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/tensor.h"

namespace luminal {

Tensor Tensor::relu() const { return luminal::relu(*this); }
Tensor Tensor::gelu(GeluApproximation approximate) const {
  return luminal::gelu(*this, approximate);
}
Tensor Tensor::silu() const { return luminal::silu(*this); }
Tensor Tensor::sigmoid() const { return luminal::sigmoid(*this); }
Tensor Tensor::tanh() const { return luminal::tanh(*this); }
Tensor Tensor::softplus(const SoftplusOptions& options) const {
  return luminal::softplus(*this, options);
}
Tensor Tensor::leaky_relu(double negative_slope) const {
  return luminal::leaky_relu(*this, negative_slope);
}
Tensor Tensor::floor_divide(const Tensor& b) const { return luminal::floor_divide(*this, b); }
Tensor Tensor::floor_divide(const Scalar& b) const { return luminal::floor_divide(*this, b); }
Tensor Tensor::remainder(const Tensor& b) const { return luminal::remainder(*this, b); }
Tensor Tensor::remainder(const Scalar& b) const { return luminal::remainder(*this, b); }
Tensor Tensor::fmod(const Tensor& b) const { return luminal::fmod(*this, b); }
Tensor Tensor::fmod(const Scalar& b) const { return luminal::fmod(*this, b); }
Tensor Tensor::pow(const Tensor& b) const { return luminal::pow(*this, b); }
Tensor Tensor::pow(const Scalar& b) const { return luminal::pow(*this, b); }
Tensor Tensor::eq(const Tensor& b) const { return luminal::eq(*this, b); }
Tensor Tensor::eq(const Scalar& b) const { return luminal::eq(*this, b); }
Tensor Tensor::ne(const Tensor& b) const { return luminal::ne(*this, b); }
Tensor Tensor::ne(const Scalar& b) const { return luminal::ne(*this, b); }
Tensor Tensor::lt(const Tensor& b) const { return luminal::lt(*this, b); }
Tensor Tensor::lt(const Scalar& b) const { return luminal::lt(*this, b); }
Tensor Tensor::le(const Tensor& b) const { return luminal::le(*this, b); }
Tensor Tensor::le(const Scalar& b) const { return luminal::le(*this, b); }
Tensor Tensor::gt(const Tensor& b) const { return luminal::gt(*this, b); }
Tensor Tensor::gt(const Scalar& b) const { return luminal::gt(*this, b); }
Tensor Tensor::ge(const Tensor& b) const { return luminal::ge(*this, b); }
Tensor Tensor::ge(const Scalar& b) const { return luminal::ge(*this, b); }
Tensor Tensor::minimum(const Tensor& b) const { return luminal::minimum(*this, b); }
Tensor Tensor::minimum(const Scalar& b) const { return luminal::minimum(*this, b); }
Tensor Tensor::maximum(const Tensor& b) const { return luminal::maximum(*this, b); }
Tensor Tensor::maximum(const Scalar& b) const { return luminal::maximum(*this, b); }
Tensor Tensor::bitwise_and(const Tensor& b) const { return luminal::bitwise_and(*this, b); }
Tensor Tensor::bitwise_and(const Scalar& b) const { return luminal::bitwise_and(*this, b); }
Tensor Tensor::bitwise_or(const Tensor& b) const { return luminal::bitwise_or(*this, b); }
Tensor Tensor::bitwise_or(const Scalar& b) const { return luminal::bitwise_or(*this, b); }
Tensor Tensor::bitwise_xor(const Tensor& b) const { return luminal::bitwise_xor(*this, b); }
Tensor Tensor::bitwise_xor(const Scalar& b) const { return luminal::bitwise_xor(*this, b); }
Tensor Tensor::bitwise_left_shift(const Tensor& b) const {
  return luminal::bitwise_left_shift(*this, b);
}
Tensor Tensor::bitwise_left_shift(const Scalar& b) const {
  return luminal::bitwise_left_shift(*this, b);
}
Tensor Tensor::bitwise_right_shift(const Tensor& b) const {
  return luminal::bitwise_right_shift(*this, b);
}
Tensor Tensor::bitwise_right_shift(const Scalar& b) const {
  return luminal::bitwise_right_shift(*this, b);
}
Tensor Tensor::bitwise_not() const { return luminal::bitwise_not(*this); }
Tensor Tensor::logical_and(const Tensor& b) const { return luminal::logical_and(*this, b); }
Tensor Tensor::logical_and(const Scalar& b) const { return luminal::logical_and(*this, b); }
Tensor Tensor::logical_or(const Tensor& b) const { return luminal::logical_or(*this, b); }
Tensor Tensor::logical_or(const Scalar& b) const { return luminal::logical_or(*this, b); }
Tensor Tensor::logical_xor(const Tensor& b) const { return luminal::logical_xor(*this, b); }
Tensor Tensor::logical_xor(const Scalar& b) const { return luminal::logical_xor(*this, b); }
Tensor Tensor::logical_not() const { return luminal::logical_not(*this); }
Tensor Tensor::clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const {
  return luminal::clamp(*this, low, high);
}
Tensor Tensor::clamp(const Tensor& low, const Tensor& high) const {
  return luminal::clamp(*this, low, high);
}
Tensor Tensor::gather(int axis, const Tensor& index) const {
  return luminal::gather(*this, axis, index);
}
Tensor Tensor::index_select(int axis, const Tensor& index) const {
  return luminal::index_select(*this, axis, index);
}
Tensor Tensor::scatter(int axis, const Tensor& index, const Tensor& src) const {
  return luminal::scatter(*this, axis, index, src);
}
Tensor Tensor::scatter(int axis, const Tensor& index, const Scalar& src) const {
  return luminal::scatter(*this, axis, index, src);
}
Tensor Tensor::scatter_add(int axis, const Tensor& index, const Tensor& src) const {
  return luminal::scatter_add(*this, axis, index, src);
}
Tensor Tensor::index_put(const Tensor& index, const Tensor& values,
                         const IndexPutOptions& options) const {
  return luminal::index_put(*this, index, values, options);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  return luminal::masked_fill(*this, mask, value);
}
Tensor Tensor::exp() const { return luminal::exp(*this); }
Tensor Tensor::exp2() const { return luminal::exp2(*this); }
Tensor Tensor::log() const { return luminal::log(*this); }
Tensor Tensor::log2() const { return luminal::log2(*this); }
Tensor Tensor::sin() const { return luminal::sin(*this); }
Tensor Tensor::cos() const { return luminal::cos(*this); }
Tensor Tensor::tan() const { return luminal::tan(*this); }
Tensor Tensor::sqrt() const { return luminal::sqrt(*this); }
Tensor Tensor::rsqrt() const { return luminal::rsqrt(*this); }
Tensor Tensor::reciprocal() const { return luminal::reciprocal(*this); }
Tensor Tensor::erf() const { return luminal::erf(*this); }
Tensor Tensor::square() const { return luminal::square(*this); }
Tensor Tensor::abs() const { return luminal::abs(*this); }
Tensor Tensor::neg() const { return luminal::neg(*this); }
Tensor Tensor::sign() const { return luminal::sign(*this); }
Tensor Tensor::floor() const { return luminal::floor(*this); }
Tensor Tensor::ceil() const { return luminal::ceil(*this); }
Tensor Tensor::round() const { return luminal::round(*this); }
Tensor Tensor::trunc() const { return luminal::trunc(*this); }
Tensor Tensor::isnan() const { return luminal::isnan(*this); }
Tensor Tensor::isinf() const { return luminal::isinf(*this); }
Tensor Tensor::isfinite() const { return luminal::isfinite(*this); }
Tensor Tensor::matmul(const Tensor& b) const { return luminal::matmul(*this, b); }
Tensor Tensor::dot(const Tensor& b) const { return luminal::dot(*this, b); }
Tensor Tensor::pad(const std::vector<Padding>& paddings, const Scalar& value) const {
  return luminal::pad(*this, paddings, value);
}
Tensor Tensor::pad_axis(int axis, const Padding& padding, const Scalar& value) const {
  return luminal::pad_axis(*this, axis, padding, value);
}
std::vector<Tensor> Tensor::chunk(int count, int axis) const {
  return luminal::chunk(*this, count, axis);
}
std::vector<Tensor> Tensor::split(int size, int axis) const {
  return luminal::split(*this, size, axis);
}
std::vector<Tensor> Tensor::split(const std::vector<Expr>& sizes, int axis) const {
  return luminal::split(*this, sizes, axis);
}
Tensor Tensor::tril(Expr diagonal) const { return luminal::tril(*this, diagonal); }
Tensor Tensor::triu(Expr diagonal) const { return luminal::triu(*this, diagonal); }
Tensor Tensor::sum(const Axes& axes, const ReduceOptions& options) const {
  return luminal::sum(*this, axes, options);
}
Tensor Tensor::prod(const Axes& axes, const ReduceOptions& options) const {
  return luminal::prod(*this, axes, options);
}
Tensor Tensor::max(const Axes& axes, const ReduceOptions& options) const {
  return luminal::max(*this, axes, options);
}
Tensor Tensor::min(const Axes& axes, const ReduceOptions& options) const {
  return luminal::min(*this, axes, options);
}
Tensor Tensor::any(const Axes& axes, const ReduceOptions& options) const {
  return luminal::any(*this, axes, options);
}
Tensor Tensor::all(const Axes& axes, const ReduceOptions& options) const {
  return luminal::all(*this, axes, options);
}
Tensor Tensor::mean(const Axes& axes, const ReduceOptions& options) const {
  return luminal::mean(*this, axes, options);
}
Tensor Tensor::var(const Axes& axes, const VarOptions& options) const {
  return luminal::var(*this, axes, options);
}
Tensor Tensor::std(const Axes& axes, const VarOptions& options) const {
  return luminal::stddev(*this, axes, options);
}
Tensor Tensor::logsumexp(const Axes& axes, const ReduceOptions& options) const {
  return luminal::logsumexp(*this, axes, options);
}
Tensor Tensor::argmax(std::optional<int> axis, const ReduceOptions& options) const {
  return luminal::argmax(*this, axis, options);
}
Tensor Tensor::argmin(std::optional<int> axis, const ReduceOptions& options) const {
  return luminal::argmin(*this, axis, options);
}
Tensor Tensor::cumsum(int axis) const { return luminal::cumsum(*this, axis); }
Tensor Tensor::cumprod(int axis) const { return luminal::cumprod(*this, axis); }
Tensor Tensor::cummax(int axis) const { return luminal::cummax(*this, axis); }
Tensor Tensor::softmax(int axis) const { return luminal::softmax(*this, axis); }
Tensor Tensor::log_softmax(int axis) const { return luminal::log_softmax(*this, axis); }

}  // namespace luminal

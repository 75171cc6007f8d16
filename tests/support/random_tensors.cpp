#include "tests/support/random_tensors.h"

#include <algorithm>
#include <span>

#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"

namespace luminal::tests {

Expr RandomTensors::random_size() {
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 32, 33, 48};
  if (variables.empty() || random.chance(0.6)) {
    return random.of(std::span<const int64_t>(kSizes));
  }
  const Expr variable = random.of(variables);
  switch (random.below(8)) {
    case 0:
      return variable + random.between(1, 3);
    case 1:
      return variable * random.between(2, 4);
    case 2:
      return variable + random.of(variables);
    default:
      return variable;
  }
}

bool RandomTensors::fits(const Dims& dims) const {
  int64_t count = 1;
  for (Expr dim : dims) {
    if (dim.lower_bound() < 0 || dim.upper_bound() > most_elements_) return false;
    count *= std::max<int64_t>(dim.upper_bound(), 1);
    if (count > most_elements_) return false;
  }
  return dims.size() <= 5;
}

Dims RandomTensors::random_dims() {
  static constexpr int kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4};
  Dims dims;
  for (int rank = random.of(std::span<const int>(kRanks)); rank > 0; --rank) {
    dims.push_back(random_size());
  }
  while (!fits(dims)) dims.pop_back();
  return dims;
}

DType RandomTensors::random_dtype() {
  static constexpr DType kFrequent[] = {DType::F32, DType::F32, DType::BF16,
                                        DType::F16, DType::F64, DType::I32};
  if (random.chance(0.7)) return random.of(std::span<const DType>(kFrequent));
  return computing_dtype();
}

DType RandomTensors::computing_dtype() {
  static constexpr DType kAll[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                   DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};
  return random.of(std::span<const DType>(kAll));
}

Tensor RandomTensors::add(const Tensor& tensor) {
  if (!fits(tensor.dims())) throw UserError("larger than this test wants");
  pool.push_back(tensor);
  return tensor;
}

Tensor RandomTensors::leaf(const Dims& dims, DType dtype) {
  const std::string name = "x" + std::to_string(graph.leaves().size());
  return random.chance(0.2) ? graph.weight(name, dims, dtype) : graph.input(name, dims, dtype);
}

// What came last is taken more often, so that graphs grow deep.
Tensor RandomTensors::any() {
  const auto size = static_cast<int64_t>(pool.size());
  const int64_t back =
      random.chance(0.6) ? random.below(std::min<int64_t>(size, 4)) : random.below(size);
  return pool[static_cast<size_t>(size - 1 - back)];
}

Tensor RandomTensors::any_computing() {
  Tensor x = any();
  return x.dtype() == DType::U4 ? x.cast(computing_dtype()) : x;
}

Tensor RandomTensors::any_float() {
  static constexpr DType kFloats[] = {DType::F32, DType::F32, DType::BF16, DType::F16, DType::F64};
  Tensor x = any();
  return is_float(x.dtype()) ? x : x.cast(random.of(std::span<const DType>(kFloats)));
}

Tensor RandomTensors::any_integer() {
  static constexpr DType kIntegers[] = {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8};
  Tensor x = any();
  return is_int(x.dtype()) ? x : x.cast(random.of(std::span<const DType>(kIntegers)));
}

int RandomTensors::any_axis(const Tensor& x) { return static_cast<int>(random.below(x.rank())); }

Tensor RandomTensors::partner(const Tensor& x) {
  switch (random.below(6)) {
    case 0:
      return broadcast_leaf(x);
    case 1:
      return prim::full_like(x, random_scalar(x.dtype()));
    case 2:
      if (x.rank() > 0) return row_statistic(x);
      break;
    case 3:
      if (x.rank() > 0) return shuffled(x);
      break;
    default:
      break;
  }
  std::vector<Tensor> alike;
  for (const Tensor& other : pool) {
    if (same_dims(other.dims(), x.dims())) alike.push_back(other);
  }
  return alike.empty() ? broadcast_leaf(x) : random.of(alike).cast(x.dtype());
}

Scalar RandomTensors::random_scalar(DType dtype) {
  static constexpr double kReals[] = {0.5, 2, -1, 0.25, 1, 3, -0.3, 0.0};
  if (is_float(dtype)) return random.of(std::span<const double>(kReals));
  return random.between(-3, 5);
}

Tensor RandomTensors::broadcast_leaf(const Tensor& x) {
  Dims dims = x.dims();
  for (Expr& dim : dims) {
    if (random.chance(0.3)) dim = 1;
  }
  const bool shorter = !dims.empty() && random.chance(0.3);
  if (shorter) dims.erase(dims.begin());
  return add(leaf(dims, x.dtype())).expand_as(x);
}

Tensor RandomTensors::row_statistic(const Tensor& x) {
  const int axis = random.chance(0.7) ? x.rank() - 1 : any_axis(x);
  const Tensor reduced = prim::reduce(x.transpose(axis, -1), random_reducer());
  return reduced.unsqueeze(-1).transpose(axis, -1).expand_as(x);
}

// Products leave the range of a type soon: they are rarer.
Reducer RandomTensors::random_reducer() {
  return random.chance(0.15) ? Reducer::Prod : random.chance(0.5) ? Reducer::Sum : Reducer::Max;
}

// The same dims, other elements.
Tensor RandomTensors::shuffled(const Tensor& x) {
  const int axis = any_axis(x);
  if (random.chance(0.5) || x.dim(axis).lower_bound() < 1) return x.flip({axis});
  return x.roll(random.between(1, 3), axis);
}

}  // namespace luminal::tests

// Operators that make tensors of nothing.
#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

// The dtype that PyTorch gives a number.
DType dtype_of_number(const Scalar& number) {
  return number.kind == Scalar::Kind::Float  ? DType::F32
         : number.kind == Scalar::Kind::Bool ? DType::Bool
                                             : DType::I64;
}

Values full_of(const Arguments& of) {
  const Scalar value = of.scalar(1);
  return {full(of.graph(), of.sizes(0), value, of.maybe_dtype(2).value_or(dtype_of_number(value)))};
}

template <int kValue>
Values all_equal(const Arguments& of) {
  return {full(of.graph(), of.sizes(0), kValue, of.maybe_dtype(1).value_or(DType::F32))};
}

Values like(const Arguments& of, const Scalar& value, std::optional<DType> dtype) {
  const Tensor x = of.tensor(0);
  return {full(of.graph(), x.dims(), value, dtype.value_or(x.dtype()))};
}

bool is_float(const Scalar& number) { return number.kind == Scalar::Kind::Float; }

Expr whole(const Scalar& number) {
  return number.kind == Scalar::Kind::Symbolic ? number.symbolic : Expr(number.integer);
}

Tensor range(Graph& graph, const Scalar& start, const Scalar& end, const Scalar& step,
             std::optional<DType> dtype) {
  if (!is_float(start) && !is_float(end) && !is_float(step)) {
    const DType type = dtype.value_or(DType::I64);
    return arange(graph, whole(start), whole(end), whole(step), type);
  }
  for (const Scalar& each : {start, end, step}) {
    if (each.kind == Scalar::Kind::Symbolic) {
      throw UserError("it is of floats and of a size that each run chooses");
    }
  }
  const double length = std::ceil((end.real - start.real) / step.real);
  if (!(length >= 0 && length <= static_cast<double>(Expr::kMaxVar))) {
    throw UserError("its step doesn't lead from its start to its end");
  }
  const auto count = static_cast<int64_t>(length);
  const DType type = dtype.value_or(DType::F32);
  return (arange(graph, count, DType::F64) * step.real + start.real).cast(type);
}

Values range_to(const Arguments& of) {
  return {range(of.graph(), 0, of.scalar(0), 1, of.maybe_dtype(1))};
}
Values range_from(const Arguments& of) {
  return {range(of.graph(), of.scalar(0), of.scalar(1), 1, of.maybe_dtype(2))};
}
Values range_by(const Arguments& of) {
  return {range(of.graph(), of.scalar(0), of.scalar(1), of.scalar(2), of.maybe_dtype(3))};
}

Values scalar_tensor(const Arguments& of) {
  const Scalar value = of.scalar(0);
  return {full(of.graph(), {}, value, of.maybe_dtype(1).value_or(DType::F32))};
}

constexpr std::string_view kLike =
    "self, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None";
constexpr std::string_view kSized =
    "size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None";

constexpr OpEntry kCreationOps[] = {
    {"aten.full.default", "size, fill_value, dtype=None, layout=None, device=None, pin_memory=None",
     full_of},
    {"aten.zeros.default", kSized, all_equal<0>},
    {"aten.ones.default", kSized, all_equal<1>},
    {"aten.empty.memory_format", kSized, all_equal<0>},
    {"aten.full_like.default",
     "self, fill_value, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None",
     [](const Arguments& of) { return like(of, of.scalar(1), of.maybe_dtype(2)); }},
    {"aten.zeros_like.default", kLike,
     [](const Arguments& of) { return like(of, 0, of.maybe_dtype(1)); }},
    {"aten.ones_like.default", kLike,
     [](const Arguments& of) { return like(of, 1, of.maybe_dtype(1)); }},
    {"aten.empty_like.default", kLike,
     [](const Arguments& of) { return like(of, 0, of.maybe_dtype(1)); }},
    {"aten.new_zeros.default", "self, size, dtype=None, layout=None, device=None, pin_memory=None",
     [](const Arguments& of) -> Values {
       return {full(of.graph(), of.sizes(1), 0, of.maybe_dtype(2).value_or(of.tensor(0).dtype()))};
     }},
    {"aten.new_ones.default", "self, size, dtype=None, layout=None, device=None, pin_memory=None",
     [](const Arguments& of) -> Values {
       return {full(of.graph(), of.sizes(1), 1, of.maybe_dtype(2).value_or(of.tensor(0).dtype()))};
     }},
    {"aten.new_full.default",
     "self, size, fill_value, dtype=None, layout=None, device=None, pin_memory=None",
     [](const Arguments& of) -> Values {
       return {full(of.graph(), of.sizes(1), of.scalar(2),
                    of.maybe_dtype(3).value_or(of.tensor(0).dtype()))};
     }},
    {"aten.arange.default", "end, dtype=None, layout=None, device=None, pin_memory=None", range_to},
    {"aten.arange.start", "start, end, dtype=None, layout=None, device=None, pin_memory=None",
     range_from},
    {"aten.arange.start_step",
     "start, end, step=1, dtype=None, layout=None, device=None, pin_memory=None", range_by},
    {"aten.scalar_tensor.default", "s, dtype=None, layout=None, device=None, pin_memory=None",
     scalar_tensor},
    {"aten.fill.Scalar", "self, value",
     [](const Arguments& of) { return like(of, of.scalar(1), std::nullopt); }},
    {"aten.copy.default", "self, src, non_blocking=False",
     [](const Arguments& of) -> Values {
       const Tensor x = of.tensor(0);
       return {of.tensor(1).cast(x.dtype()).expand(x.dims())};
     }},
    {"aten.zero.default", "self", [](const Arguments& of) { return like(of, 0, std::nullopt); }},
};

}  // namespace

std::span<const OpEntry> creation_ops() { return kCreationOps; }

}  // namespace luminal::pytorch

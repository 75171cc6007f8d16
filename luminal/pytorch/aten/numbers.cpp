// Arithmetic of sizes, and checks of them, which hold by then.
#include "luminal/base/errors.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/size_arithmetic.h"

namespace luminal::pytorch {
namespace {

// Of two sizes, or of numbers that are known.
template <typename OfSizes, typename OfReals>
Values of_numbers(const Arguments& of, OfSizes of_sizes, OfReals of_reals) {
  const Scalar a = of.scalar(0), b = of.scalar(1);
  if (a.kind == Scalar::Kind::Float || b.kind == Scalar::Kind::Float) {
    return {of_reals(of.real(0), of.real(1))};
  }
  return {of_sizes(of.size(0), of.size(1))};
}

#define NUMBERS(sizes, reals)                                \
  [](const Arguments& of) -> Values {                        \
    return of_numbers(                                       \
        of, [](Expr a, Expr b) -> Expr { return sizes; },    \
        [](double a, double b) -> double { return reals; }); \
  }

double no_reals(double, double) { throw UserError("it is of floats, which isn't supported"); }

Values checked(const Arguments&) { return {}; }

constexpr OpEntry kNumbersOps[] = {
    {"aten.sym_size.int", "self, dim",
     [](const Arguments& of) -> Values { return {of.tensor(0).dim(of.integer(1))}; }},
    {"aten.sym_numel.default", "self",
     [](const Arguments& of) -> Values { return {of.tensor(0).n_elements()}; }},
    {"_operator.add", "a, b", NUMBERS(a + b, a + b)},
    {"_operator.sub", "a, b", NUMBERS(a - b, a - b)},
    {"_operator.mul", "a, b", NUMBERS(a* b, a* b)},
    {"_operator.floordiv", "a, b", NUMBERS(a / b, no_reals(a, b))},
    {"_operator.mod", "a, b", NUMBERS(remainder(a, b), no_reals(a, b))},
    {"_operator.truediv", "a, b",
     [](const Arguments& of) -> Values { return {of.real(0) / of.real(1)}; }},
    {"_operator.neg", "a", [](const Arguments& of) -> Values { return {-of.size(0)}; }},
    {"_operator.eq", "a, b", NUMBERS(a >= b && b >= a, a == b)},
    {"_operator.ge", "a, b", NUMBERS(a >= b, a >= b)},
    {"_operator.gt", "a, b", NUMBERS(b<a, a> b)},
    {"_operator.le", "a, b", NUMBERS(b >= a, a <= b)},
    {"_operator.lt", "a, b", NUMBERS(a < b, a < b)},
    {"_operator.ne", "a, b", NUMBERS(a < b || b < a, a != b)},
    {"_operator.and_", "a, b", NUMBERS(a&& b, no_reals(a, b))},
    {"_operator.or_", "a, b", NUMBERS(a || b, no_reals(a, b))},
    {"torch.sym_max", "a, b", NUMBERS(max(a, b), no_reals(a, b))},
    {"torch.sym_min", "a, b", NUMBERS(min(a, b), no_reals(a, b))},
    {"aten._assert_scalar.default", "self, assert_msg", checked},
    {"aten._assert_async.msg", "self, assert_msg", checked},
    {"aten._assert_tensor_metadata.default",
     "a, size=None, stride=None, dtype=None, device=None, layout=None", checked},
    {"aten.sym_constrain_range_for_size.default", "size, min=None, max=None", checked},
};

#undef NUMBERS

}  // namespace

std::span<const OpEntry> number_ops() { return kNumbersOps; }

}  // namespace luminal::pytorch

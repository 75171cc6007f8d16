#include "luminal/graph/op.h"

#include <array>
#include <iterator>

namespace luminal {
namespace {

enum class Order : uint8_t { Matters, Commutes };

struct Row {
  Op op;
  std::string_view text;
  int arity;
  OpClass op_class;
  OperandKind operands;
  int flops;
  Order order = Order::Matters;
};

constexpr Row kRows[] = {
#define OP(name, text, arity, op_class, operands, flops, ...) \
  {Op::name,                                                  \
   text,                                                      \
   arity,                                                     \
   OpClass::op_class,                                         \
   OperandKind::operands,                                     \
   flops __VA_OPT__(, Order::) __VA_ARGS__},
#include "luminal/graph/ops.def"
#undef OP
};

constexpr auto kAll = [] {
  std::array<Op, std::size(kRows)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kRows[i].op;
  return all;
}();

constexpr std::string_view kReducers[] = {"sum", "prod", "max"};

const Row& row(Op op) { return kRows[static_cast<size_t>(op)]; }

}  // namespace

std::span<const Op> all_ops() { return kAll; }
std::string_view name(Op op) { return row(op).text; }
OpClass op_class(Op op) { return row(op).op_class; }
int arity(Op op) { return row(op).arity; }
OperandKind operand_kind(Op op) { return row(op).operands; }
int flops_of(Op op) { return row(op).flops; }
bool commutes(Op op) { return row(op).order == Order::Commutes; }

bool is_elementwise(Op op) {
  switch (op_class(op)) {
    case OpClass::Unary:
    case OpClass::Convert:
    case OpClass::Binary:
    case OpClass::Comparison:
    case OpClass::Ternary:
      return true;
    case OpClass::Leaf:
    case OpClass::Movement:
    case OpClass::Reduction:
    case OpClass::Indexing:
    case OpClass::Custom:
      return false;
  }
  return false;
}

bool takes(Op op, DType dtype) {
  switch (operand_kind(op)) {
    case OperandKind::None:
      return false;
    case OperandKind::Any:
      return kind(dtype) != DTypeKind::Packed;
    case OperandKind::Floats:
      return is_float(dtype);
    case OperandKind::Numbers:
      return is_float(dtype) || is_int(dtype);
    case OperandKind::Integers:
      return is_int(dtype);
  }
  return false;
}

std::optional<Op> op_from_name(std::string_view text) {
  for (const Row& r : kRows) {
    if (r.text == text) return r.op;
  }
  return std::nullopt;
}

std::span<const Reducer> all_reducers() {
  static constexpr Reducer kEvery[] = {Reducer::Sum, Reducer::Prod, Reducer::Max};
  return kEvery;
}

std::string_view name(Reducer reducer) { return kReducers[static_cast<size_t>(reducer)]; }

std::optional<Reducer> reducer_from_name(std::string_view text) {
  for (size_t i = 0; i < std::size(kReducers); ++i) {
    if (kReducers[i] == text) return static_cast<Reducer>(i);
  }
  return std::nullopt;
}

}  // namespace luminal

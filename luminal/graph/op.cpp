#include "luminal/graph/op.h"

#include <array>
#include <iterator>

namespace luminal {
namespace {

struct Row {
  Op op;
  std::string_view text;
  int arity;
  OpClass op_class;
};

constexpr Row kRows[] = {
#define OP(name, text, arity, op_class) {Op::name, text, arity, OpClass::op_class},
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

bool commutes(Op op) {
  return op == Op::Add || op == Op::Mul || op == Op::BitAnd || op == Op::Equal;
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

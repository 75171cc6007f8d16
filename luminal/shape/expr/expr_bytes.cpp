#include "luminal/shape/expr/expr_bytes.h"

#include "luminal/base/errors.h"
#include "luminal/shape/expr/expr_interner.h"

namespace luminal::shape {
namespace {

constexpr uint64_t kKinds = static_cast<uint64_t>(ExprKind::Or) + 1;

constexpr const char* kOther = "an expression differs from the one that was written";

void check(bool holds, const char* what) {
  if (!holds) throw base::ByteError(what);
}

// As many operands and coefficients as the kind has.
void check_lists(const NodeKey& key) {
  const size_t operands = key.operands.size(), coefficients = key.coefficients.size();
  check(coefficients == 0 || coefficients == operands,
        "an expression has other numbers of coefficients and operands");
  switch (key.kind) {
    case ExprKind::Const:
    case ExprKind::Var:
      return check(operands == 0, "an expression has too many operands");
    case ExprKind::Index:
      return check(operands == 1 && key.axis >= 0, "an index has no extent");
    case ExprKind::Sum:
      return check(operands >= 1 && coefficients == operands, "a sum has no coefficients");
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
    case ExprKind::Mod:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
      return check(operands == 2, "an expression doesn't have two operands");
    case ExprKind::Product:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::And:
    case ExprKind::Or:
      return check(operands >= 2, "an expression has too few operands");
  }
}

}  // namespace

uint64_t ExprWriter::number_of(Expr e) {
  if (const auto known = numbers_.find(e); known != numbers_.end()) return known->second;
  const Node& n = node(e);
  std::vector<uint64_t> operands;
  for (Expr operand : n.operand_span()) operands.push_back(number_of(operand));
  table_.number(static_cast<uint64_t>(n.kind));
  table_.word(n.hash);
  if (n.kind == ExprKind::Const) {
    table_.integer(n.constant);
  } else if (n.kind == ExprKind::Var) {
    table_.text(n.name_view());
    table_.integer(n.lower);
    table_.integer(n.upper);
  } else {
    table_.flag(n.opaque);
    table_.integer(n.axis);
    table_.integer(n.constant);
    table_.number(operands.size());
    for (uint64_t operand : operands) table_.number(operand);
    table_.number(n.coefficient_span().size());
    for (int64_t coefficient : n.coefficient_span()) table_.integer(coefficient);
  }
  const uint64_t number = numbers_.size();
  numbers_.emplace(e, number);
  return number;
}

void ExprWriter::exprs(const std::vector<Expr>& list) {
  out.number(list.size());
  for (Expr e : list) expr(e);
}

void ExprWriter::map(const IndexMap& map) {
  exprs(map.dims());
  exprs(map.source_dims());
  exprs(map.exprs());
}

std::string ExprWriter::bytes() const {
  base::ByteWriter all;
  all.number(numbers_.size());
  return all.bytes() + table_.bytes() + out.bytes();
}

ExprReader::ExprReader(std::string_view bytes) : in(bytes) {
  const size_t count = in.count();
  table_.reserve(count);
  while (table_.size() < count) table_.push_back(read_node());
}

Expr ExprReader::read_node() {
  NodeKey key;
  key.kind = static_cast<ExprKind>(in.below(kKinds));
  const uint64_t hash = in.word();
  Expr e;
  if (key.kind == ExprKind::Const) {
    e = in.integer();
  } else if (key.kind == ExprKind::Var) {
    const std::string_view name = in.text();
    const int64_t lower = in.integer(), upper = in.integer();
    try {
      e = Expr::var(name, lower, upper);
    } catch (const UserError& error) {
      throw base::ByteError(error.what());
    }
  } else {
    key.opaque = in.flag();
    key.axis = in.small();
    key.constant = in.integer();
    std::vector<Expr> operands(in.count());
    for (Expr& operand : operands) operand = expr();
    std::vector<int64_t> coefficients(in.count());
    for (int64_t& coefficient : coefficients) coefficient = in.integer();
    key.operands = operands;
    key.coefficients = coefficients;
    check_lists(key);
    // As it was, not simplified anew; the hash says that it is what was written.
    check(hash_key(key) == hash, kOther);
    e = intern(key);
  }
  check(e.hash() == hash, kOther);
  return e;
}

std::vector<Expr> ExprReader::exprs() {
  std::vector<Expr> list(in.count());
  for (Expr& e : list) e = expr();
  return list;
}

IndexMap ExprReader::map() {
  Dims dims = exprs(), source_dims = exprs();
  std::vector<Expr> over = exprs();
  check(over.size() == source_dims.size(), "an index map has the wrong number of dims");
  return IndexMap(std::move(dims), std::move(source_dims), std::move(over));
}

}  // namespace luminal::shape

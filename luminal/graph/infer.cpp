#include "luminal/graph/infer.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/graph/call_custom.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/shape/index/index_range.h"
#include "luminal/shape/shape.h"

namespace luminal {
namespace {

// How messages name the op of a node.
std::string op_text(const Node& node) {
  if (node.op != Op::Custom) return std::string(name(node.op));
  return fmt::format("custom op '{}'", node.as<CustomAttr>().op->name);
}

// One node under inspection: the op's name and its inputs, for rules and messages.
struct Subject {
  const Graph& graph;
  const Node& node;

  const Node& input(size_t i) const { return graph.node(node.inputs[i]); }
  std::string input_name(size_t i) const { return graph.describe(node.inputs[i]); }
  std::string input_text(size_t i) const {
    return fmt::format("{}, which is {}{}", input_name(i), name(input(i).dtype),
                       text(input(i).dims));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}", op_text(node), what));
  }
};

void require_kind(const Subject& subject, size_t input, bool fits, const char* wanted,
                  const char* way_out) {
  if (fits) return;
  subject.fail(fmt::format("expects {}, not {}; {}", wanted, subject.input_text(input), way_out));
}

void require_same(const Subject& subject, size_t a, size_t b) {
  const Node& left = subject.input(a);
  const Node& right = subject.input(b);
  if (left.dtype != right.dtype) {
    subject.fail(fmt::format("dtypes differ: {} is {}, {} is {}; cast one of them",
                             subject.input_name(a), name(left.dtype), subject.input_name(b),
                             name(right.dtype)));
  }
  if (!same_dims(left.dims, right.dims)) {
    subject.fail(fmt::format("dims differ: {} is {}, {} is {}; expand or reshape one of them",
                             subject.input_name(a), text(left.dims), subject.input_name(b),
                             text(right.dims)));
  }
}

bool computes(DType dtype) { return kind(dtype) != DTypeKind::Packed; }

void require_computes(const Subject& subject, size_t input) {
  require_kind(subject, input, computes(subject.input(input).dtype), "a type with arithmetic",
               "u4 is a storage type: cast it first");
}

void require_index(const Subject& subject, size_t input) {
  DType dtype = subject.input(input).dtype;
  require_kind(subject, input, dtype == DType::I64 || dtype == DType::I32, "an i64 or i32 index",
               "cast it to i64");
}

// Input 0 has a dtype that arithmetic of this kind takes.
void require_operand(const Subject& subject) {
  const bool fits = takes(subject.node.op, subject.input(0).dtype);
  switch (operand_kind(subject.node.op)) {
    case OperandKind::Any:
      return require_computes(subject, 0);
    case OperandKind::Floats:
      return require_kind(subject, 0, fits, "a float type", "cast it to f32 first");
    case OperandKind::Numbers:
      return require_kind(subject, 0, fits, "floats or integers", "cast bool to i64");
    case OperandKind::Integers:
      return require_kind(subject, 0, fits, "integers", "cast it to an integer type first");
    case OperandKind::None:
      break;
  }
  LUMINAL_CHECK(false, "arithmetic without dtypes in ops.def");
}

TensorType unary(const Subject& subject) {
  require_operand(subject);
  return {subject.input(0).dims, subject.input(0).dtype};
}

TensorType binary(const Subject& subject) {
  require_computes(subject, 0);
  require_same(subject, 0, 1);
  require_operand(subject);
  const Node& left = subject.input(0);
  return {left.dims, gives_bool(subject.node.op) ? DType::Bool : left.dtype};
}

TensorType select(const Subject& subject) {
  require_kind(subject, 0, subject.input(0).dtype == DType::Bool, "a bool condition",
               "compare it, or cast it to bool");
  require_computes(subject, 1);
  require_same(subject, 1, 2);
  if (!same_dims(subject.input(0).dims, subject.input(1).dims)) {
    subject.fail(fmt::format("dims differ: the condition is {}, {}; expand or reshape one of them",
                             text(subject.input(0).dims), subject.input_text(1)));
  }
  return {subject.input(1).dims, subject.input(1).dtype};
}

TensorType cast(const Subject& subject) {
  const DType to = subject.node.dtype;
  if (!computes(to)) subject.fail("can't cast to u4; pack the data outside the graph");
  return {subject.input(0).dims, to};
}

TensorType bitcast(const Subject& subject) {
  const Node& input = subject.input(0);
  const DType from = input.dtype;
  const DType to = subject.node.dtype;
  auto plain = [](DType dtype) { return is_float(dtype) || is_int(dtype); };
  if (!plain(from) || !plain(to) || bits(from) != bits(to)) {
    subject.fail(
        fmt::format("{}, can't be read as {}: {} is {} bits wide, {} is {}; choose a type of "
                    "the same width, not bool or u4",
                    subject.input_text(0), name(to), name(from), bits(from), name(to), bits(to)));
  }
  return {input.dims, to};
}

// An index of a view must stay inside its axis. Where that depends on sizes that only a run knows,
// only what is outside at all of them is refused here, and the run checks the rest.
void check_index(const Subject& subject, const IndexMap& map, size_t axis) {
  const Expr at = map.exprs()[axis];
  const Expr size = map.source_dims()[axis];
  if (size.is(0) || shape::known_inside(at, size)) return;
  std::string why;
  if (!at.variables().empty() || !size.to_int()) {
    if (at.upper_bound() < 0 || (size.to_int() && at.lower_bound() >= *size.to_int())) {
      why = fmt::format("{} is never in range", at.text());
    }
  } else {
    why = shape::why_outside(at, size, {});
  }
  if (why.empty()) return;
  subject.fail(
      fmt::format("index {} of its map {} lies outside axis {} of {}: {}; keep it from 0 "
                  "to {} with min, max or %",
                  at.text(), map.text(), axis, text(map.source_dims()), why, (size - 1).text()));
}

TensorType view(const Subject& subject) {
  const Node& input = subject.input(0);
  const auto& map = subject.node.as<IndexMap>();
  if (!same_dims(map.source_dims(), input.dims)) {
    subject.fail(
        fmt::format("its map reads {}, but {}", text(map.source_dims()), subject.input_text(0)));
  }
  const bool is_empty = std::ranges::any_of(map.dims(), [](Expr dim) { return dim.is(0); });
  for (size_t i = 0; i < map.exprs().size() && !is_empty; ++i) {
    check_index(subject, map, i);
  }
  return {map.dims(), input.dtype};
}

TensorType reduction(const Subject& subject) {
  const Node& input = subject.input(0);
  require_computes(subject, 0);
  if (input.dims.empty()) {
    subject.fail(fmt::format("{} is a scalar and has no axis to reduce or scan; unsqueeze it first",
                             subject.input_name(0)));
  }
  Dims dims = input.dims;
  if (subject.node.op == Op::Reduce) dims.pop_back();
  return {std::move(dims), input.dtype};
}

TensorType gather(const Subject& subject) {
  const Node& data = subject.input(0);
  const Node& index = subject.input(1);
  require_index(subject, 1);
  if (data.dims.empty()) {
    subject.fail(
        fmt::format("{} is a scalar and has no rows; unsqueeze it first", subject.input_name(0)));
  }
  Dims dims = index.dims;
  dims.insert(dims.end(), data.dims.begin() + 1, data.dims.end());
  return {std::move(dims), data.dtype};
}

TensorType scatter(const Subject& subject) {
  const Node& dest = subject.input(0);
  const Node& index = subject.input(1);
  const Node& values = subject.input(2);
  require_computes(subject, 0);
  require_index(subject, 1);
  if (dest.dims.empty()) {
    subject.fail(
        fmt::format("{} is a scalar and has no rows; unsqueeze it first", subject.input_name(0)));
  }
  Dims wanted = index.dims;
  wanted.insert(wanted.end(), dest.dims.begin() + 1, dest.dims.end());
  if (!same_dims(values.dims, wanted)) {
    subject.fail(fmt::format("values must be {} (index {} and the rows of {}), but {}",
                             text(wanted), text(index.dims), text(dest.dims),
                             subject.input_text(2)));
  }
  if (values.dtype != dest.dtype) {
    subject.fail(fmt::format("dtypes differ: {} is {}, {} is {}; cast one of them",
                             subject.input_name(0), name(dest.dtype), subject.input_name(2),
                             name(values.dtype)));
  }
  return {dest.dims, dest.dtype};
}

TensorType custom(const Subject& subject) {
  std::vector<TensorType> types;
  for (size_t i = 0; i < subject.node.inputs.size(); ++i) {
    types.push_back({subject.input(i).dims, subject.input(i).dtype});
  }
  const CustomOp& op = *subject.node.as<CustomAttr>().op;
  TensorType result = call_custom(op, "shape_rule", [&] { return op.shape_rule(types); });
  const auto rank = static_cast<int>(result.dims.size());
  if (op.kernel && (op.kernel->parallel_dims < 0 || op.kernel->parallel_dims > rank)) {
    subject.fail(
        fmt::format("its kernel has {} parallel dims, but the result has {} dims; choose 0 to {}",
                    op.kernel->parallel_dims, rank, rank));
  }
  return result;
}

TensorType structural(const Subject& subject, StructuralOp op) {
  const Node& node = subject.node;
  switch (op) {
    case StructuralOp::Input:
      return {node.dims, node.dtype};
    case StructuralOp::Constant:
      if (!computes(node.dtype)) subject.fail("u4 is a storage type: choose u8 and cast");
      return {{}, node.dtype};
    case StructuralOp::Iota:
      if (!computes(node.dtype)) subject.fail("u4 is a storage type: choose u8 and cast");
      return {node.dims, node.dtype};
    case StructuralOp::View:
      return view(subject);
    case StructuralOp::Reduce:
    case StructuralOp::Scan:
      return reduction(subject);
    case StructuralOp::Gather:
      return gather(subject);
    case StructuralOp::Scatter:
      return scatter(subject);
    case StructuralOp::Custom:
      return custom(subject);
  }
  LUMINAL_CHECK(false, "an op without a type rule");
  __builtin_unreachable();
}

TensorType infer_by_op(const Subject& subject) {
  const Op op = subject.node.op;
  switch (op_class(op)) {
    case OpClass::Unary:
      return unary(subject);
    case OpClass::Binary:
    case OpClass::Comparison:
      return binary(subject);
    case OpClass::Convert:
      return op == Op::Cast ? cast(subject) : bitcast(subject);
    case OpClass::Ternary:
      return select(subject);
    case OpClass::Leaf:
    case OpClass::Movement:
    case OpClass::Reduction:
    case OpClass::Indexing:
    case OpClass::Custom:
      break;
  }
  return structural(subject, structural_op(op).value());
}

}  // namespace

TensorType infer_type(const Graph& graph, const Node& node) {
  const int wanted = arity(node.op);
  if (wanted >= 0 && node.inputs.size() != static_cast<size_t>(wanted)) {
    throw UserError(
        fmt::format("{}: takes {} inputs, {} given", name(node.op), wanted, node.inputs.size()));
  }
  for (NodeId input : node.inputs) {
    LUMINAL_CHECK(input.index() < graph.size() && !graph.node(input).removed,
                  "an input names no node of this graph");
  }
  TensorType type = infer_by_op({graph, node});
  if (type.dims.size() > Shape::kMaxRank) {
    throw UserError(fmt::format("{}: the result would have {} dims, {} are supported; merge some",
                                op_text(node), type.dims.size(), Shape::kMaxRank));
  }
  for (Expr dim : type.dims) {
    if (dim.upper_bound() < 0) {
      throw UserError(
          fmt::format("{}: {} has a negative dim: {}", op_text(node), text(type.dims), dim.text()));
    }
  }
  return type;
}

}  // namespace luminal

#include "luminal/graph/primitives.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"

namespace luminal {
namespace {

// A node over tensors of one graph; its type is inferred by Graph::add.
Tensor make(Op op, std::initializer_list<Tensor> inputs, Attribute attribute = {},
            DType dtype = DType::F32) {
  Graph& graph = inputs.begin()->graph();
  std::vector<NodeId> ids;
  ids.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    if (&input.graph() != &graph) {
      throw UserError(fmt::format("{}: {} and {} belong to different graphs; build both in one",
                                  name(op), inputs.begin()->describe(), input.describe()));
    }
    ids.push_back(input.id());
  }
  return graph.add({.op = op,
                    .dtype = dtype,
                    .dims = {},
                    .inputs = std::move(ids),
                    .attribute = std::move(attribute),
                    .label = {}});
}

}  // namespace

namespace prim {

Tensor exp2(const Tensor& x) { return make(Op::Exp2, {x}); }
Tensor log2(const Tensor& x) { return make(Op::Log2, {x}); }
Tensor sin(const Tensor& x) { return make(Op::Sin, {x}); }
Tensor recip(const Tensor& x) { return make(Op::Recip, {x}); }
Tensor sqrt(const Tensor& x) { return make(Op::Sqrt, {x}); }
Tensor add(const Tensor& a, const Tensor& b) { return make(Op::Add, {a, b}); }
Tensor mul(const Tensor& a, const Tensor& b) { return make(Op::Mul, {a, b}); }
Tensor mod(const Tensor& a, const Tensor& b) { return make(Op::Mod, {a, b}); }
Tensor int_div(const Tensor& a, const Tensor& b) { return make(Op::IntDiv, {a, b}); }
Tensor bit_and(const Tensor& a, const Tensor& b) { return make(Op::BitAnd, {a, b}); }
Tensor less_than(const Tensor& a, const Tensor& b) { return make(Op::LessThan, {a, b}); }
Tensor equal(const Tensor& a, const Tensor& b) { return make(Op::Equal, {a, b}); }
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return make(Op::Select, {condition, a, b});
}
Tensor cast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : make(Op::Cast, {x}, {}, dtype);
}
Tensor bitcast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : make(Op::Bitcast, {x}, {}, dtype);
}
Tensor view(const Tensor& x, IndexMap map) {
  if (map.is_identity() && same_dims(map.source_dims(), x.dims())) return x;
  return make(Op::View, {x}, std::move(map));
}
Tensor reduce(const Tensor& x, Reducer reducer) {
  return make(Op::Reduce, {x}, ReduceAttr{reducer});
}
Tensor scan(const Tensor& x, Reducer reducer) { return make(Op::Scan, {x}, ReduceAttr{reducer}); }
Tensor gather(const Tensor& data, const Tensor& index) { return make(Op::Gather, {data, index}); }
Tensor scatter(const Tensor& dest, const Tensor& index, const Tensor& values,
               std::optional<Reducer> combine) {
  return make(Op::Scatter, {dest, index, values}, ScatterAttr{combine});
}

Tensor iota(Graph& graph, Expr expr, Dims dims, DType dtype) {
  return graph.add({.op = Op::Iota,
                    .dtype = dtype,
                    .dims = std::move(dims),
                    .inputs = {},
                    .attribute = IotaAttr{expr},
                    .label = {}});
}

Tensor full(Graph& graph, const Dims& dims, const Scalar& value, DType dtype) {
  // A view of a scalar: no index of the source to compute, so every element shows it.
  return view(graph.constant(value, dtype), IndexMap(dims, {}, {}));
}

Tensor full_like(const Tensor& like, const Scalar& value) {
  return prim::full(like.graph(), like.dims(), value, like.dtype());
}

}  // namespace prim

}  // namespace luminal

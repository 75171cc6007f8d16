#include "luminal/search/terms/term_types.h"

#include <fmt/format.h>

#include "luminal/base/check.h"
#include "luminal/graph/infer.h"

namespace luminal::search {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

Node node_of(Op op, Attribute attribute = {}) {
  return {.op = op,
          .dtype = DType::F32,
          .dims = {},
          .inputs = {},
          .attribute = std::move(attribute),
          .label = {}};
}

// The primitive behind a term, without its inputs.
Node primitive(const kernel::Term& term) {
  return std::visit(
      Overloaded{
          [](const kernel::LoadTerm&) {
            LUMINAL_CHECK(false, "a load is not a primitive");
            return node_of(Op::Input);
          },
          [](const kernel::ConstTerm& t) {
            return node_of(Op::Constant, ConstantAttr{t.real, t.integer});
          },
          [](const kernel::IotaTerm& t) { return node_of(Op::Iota, IotaAttr{t.expr}); },
          [](const kernel::ReindexTerm& t) { return node_of(Op::View, t.map); },
          [](const kernel::ReduceTerm& t) { return node_of(Op::Reduce, ReduceAttr{t.reducer}); },
          [](const kernel::ScanTerm& t) { return node_of(Op::Scan, ReduceAttr{t.reducer}); },
          [](const kernel::GatherTerm&) { return node_of(Op::Gather); },
          [](const kernel::StoreAtTerm& t) { return node_of(Op::Scatter, ScatterAttr{t.combine}); },
          [](const kernel::OpTerm& t) { return node_of(t.op); },
      },
      term);
}

}  // namespace

Type type_by_graph(const kernel::Term& term, const Type& said, std::span<const Type> operands) {
  Graph graph;
  Node node = primitive(term);
  node.dims = said.dims;
  node.dtype = said.dtype;
  for (const Type& type : operands) {
    const std::string label = fmt::format("operand {}", node.inputs.size() + 1);
    node.inputs.push_back(graph.input(label, type.dims, type.dtype).id());
  }
  const TensorType type = infer_type(graph, node);
  return {type.dims, type.dtype};
}

}  // namespace luminal::search

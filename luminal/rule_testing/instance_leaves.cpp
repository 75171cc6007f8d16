#include "luminal/rule_testing/instance_leaves.h"

#include <fmt/format.h>

#include <utility>

#include "luminal/base/check.h"
#include "luminal/graph/tensor.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::rule_testing {

NodeId InstanceLeaves::leaf(const Type& type) {
  switch (random_.below(8)) {
    case 0: {
      const IndexMap map = random_map_into(random_, type.dims);
      return view(input({map.source_dims(), type.dtype}), map);
    }
    case 1:
      return full(random_number(random_, type.dtype, values_), type.dims);
    case 2:
      for (size_t id = 0; id < out_.graph->size(); ++id) {
        const Node& node = out_.graph->node(NodeId{static_cast<uint32_t>(id)});
        if (same_dims(node.dims, type.dims) && node.dtype == type.dtype) {
          return NodeId{static_cast<uint32_t>(id)};
        }
      }
      break;
    default:
      break;
  }
  return input(type);
}

NodeId InstanceLeaves::input(const Type& type) {
  const std::string name = fmt::format("x{}", inputs_++);
  return role_ == Role::Weight ? out_.graph->weight(name, type.dims, type.dtype).id()
                               : out_.graph->input(name, type.dims, type.dtype).id();
}

NodeId InstanceLeaves::full(const Number& number, const Dims& dims) {
  const NodeId id = add({.op = Op::Constant,
                         .dtype = number.dtype,
                         .dims = {},
                         .inputs = {},
                         .attribute = ConstantAttr{number.real, number.integer},
                         .label = {}});
  return dims.empty() ? id : view(id, IndexMap(dims, {}, {}));
}

NodeId InstanceLeaves::view(NodeId operand, const IndexMap& map) {
  return add({.op = Op::View,
              .dtype = out_.graph->node(operand).dtype,
              .dims = map.dims(),
              .inputs = {operand},
              .attribute = map,
              .label = {}});
}

NodeId InstanceLeaves::add(Node node) { return out_.graph->add(std::move(node)).id(); }

void InstanceLeaves::names_rows(NodeId index, Expr rows) {
  rows_[index] = rows.evaluate(out_.sizes).value.value_or(0);
}

void InstanceLeaves::fill() {
  for (NodeId id : out_.graph->leaves()) {
    const Node& node = out_.graph->node(id);
    const Result<ResolvedDims> dims = resolve_dims(node.dims, out_.sizes);
    LUMINAL_CHECK(dims, dims.why());
    TensorData data = random_data(random_, node.dtype, dims->sizes, values_);
    if (auto rows = rows_.find(id); rows != rows_.end()) data = indices(data, rows->second);
    out_.leaves.emplace(id, std::move(data));
  }
}

// Indices of rows must be in range.
TensorData InstanceLeaves::indices(const TensorData& like, int64_t rows) {
  std::vector<int64_t> at(static_cast<size_t>(like.n_elements()));
  if (rows == 0 && !at.empty()) throw DoesNotFit{};
  for (int64_t& index : at) {
    index = static_cast<int64_t>(random_.below(static_cast<size_t>(rows)));
  }
  return TensorData::copy_of<int64_t>(at, like.dims).cast(like.dtype);
}

}  // namespace luminal::rule_testing

#include "luminal/search/rolling/node_symbols.h"

#include <bit>

#include "luminal/graph/custom_op.h"

namespace luminal::search {
namespace {

using Key = std::vector<uint64_t>;

void add(Key& key, const Dims& dims) {
  key.push_back(dims.size());
  for (Expr dim : dims) key.push_back(dim.id());
}

struct AddAttribute {
  Key& key;
  std::map<std::pair<std::string, std::string>, uint64_t>& custom_ops;

  void operator()(std::monostate) {}
  void operator()(const InputAttr& input) { key.push_back(static_cast<uint64_t>(input.role)); }
  void operator()(const ConstantAttr& constant) {
    key.push_back(std::bit_cast<uint64_t>(constant.real));
    key.push_back(std::bit_cast<uint64_t>(constant.integer));
  }
  void operator()(const IotaAttr& iota) { key.push_back(iota.expr.id()); }
  void operator()(const IndexMap& map) {
    add(key, map.source_dims());
    add(key, map.exprs());
  }
  void operator()(const ReduceAttr& reduce) {
    key.push_back(static_cast<uint64_t>(reduce.reducer));
  }
  void operator()(const ScatterAttr& scatter) {
    key.push_back(scatter.combine ? 1 + static_cast<uint64_t>(*scatter.combine) : 0);
  }
  void operator()(const CustomAttr& custom) {
    const auto name = std::make_pair(custom.op->name, custom.op->rules);
    key.push_back(custom_ops.try_emplace(name, custom_ops.size()).first->second);
    key.push_back(custom.op->kernel.has_value());
  }
};

}  // namespace

uint32_t NodeSymbols::of(NodeId id) {
  const Node& node = graph_.node(id);
  Key key = {static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.dtype), node.materialized};
  add(key, node.dims);
  for (NodeId input : node.inputs) {
    const Node& operand = graph_.node(input);
    key.push_back(static_cast<uint64_t>(operand.dtype));
    add(key, operand.dims);
  }
  std::visit(AddAttribute{key, custom_ops_}, node.attribute);
  return numbers_.try_emplace(std::move(key), static_cast<uint32_t>(numbers_.size())).first->second;
}

}  // namespace luminal::search

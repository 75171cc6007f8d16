#include "apps/cli/files/random_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "luminal/base/errors.h"
#include "luminal/shape/scalar.h"

namespace luminal::cli {
namespace {

constexpr int64_t kMostInteger = 100;

int64_t value_of(Expr dim, const Graph& graph, NodeId node, const Bindings& bindings) {
  const Expr::Value value = dim.evaluate(bindings);
  if (!value.value) {
    throw UserError(fmt::format("dim {} of {} has no value: {}; give it with --bind NAME=VALUE",
                                dim.text(), graph.describe(node), value.why));
  }
  return *value.value;
}

// The minimum number of rows that an index of the graph must stay below.
int64_t fewest_rows(const Graph& graph, const Bindings& bindings) {
  int64_t rows = kMostInteger;
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (node.op != Op::Gather && node.op != Op::Scatter) continue;
    const NodeId data = node.inputs[0];
    rows = std::min(rows, value_of(graph.node(data).dims[0], graph, data, bindings));
  }
  return std::max<int64_t>(rows, 1);
}

}  // namespace

TensorData random_data(const Graph& graph, NodeId leaf, const Bindings& bindings, uint64_t seed) {
  const Node& node = graph.node(leaf);
  std::vector<int64_t> dims;
  for (Expr dim : node.dims) dims.push_back(value_of(dim, graph, leaf, bindings));
  TensorData::Writable result = TensorData::zeros(node.dtype, dims);
  std::mt19937_64 random(seed * 1'000'003 + leaf.value);
  const int64_t count = result.data.n_elements();
  if (is_float(node.dtype)) {
    for (int64_t i = 0; i < count; ++i) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      store_float(node.dtype, result.bytes.data(), i, round_to(node.dtype, 2 * unit - 1));
    }
    return result.data;
  }
  const auto bound =
      static_cast<uint64_t>(kind(node.dtype) == DTypeKind::Bool ? 2 : fewest_rows(graph, bindings));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<int64_t>(random() % bound);
    store_int(node.dtype, result.bytes.data(), i, wrap_to(node.dtype, value));
  }
  return result.data;
}

}  // namespace luminal::cli

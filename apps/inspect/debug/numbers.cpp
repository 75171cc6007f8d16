#include "apps/inspect/debug/numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "luminal/base/digest.h"
#include "luminal/graph/traverse.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {
namespace {

size_t elements_of(const Subject& subject, NodeId id) {
  const Result<ResolvedDims> dims = resolve_dims(subject.graph->node(id).dims, subject.sizes);
  return dims ? static_cast<size_t>(dims->count) : 0;
}

bool has(const Numbers& numbers, Wanted wanted) {
  return (wanted == Wanted::NaN ? numbers.n_nan : numbers.n_infinite) > 0;
}

// "x is -0.5" for each operand with as many elements as the result.
std::string operands_at(const Subject& subject, NodeId id, size_t at, size_t count,
                        const std::map<NodeId, TensorData>& values) {
  std::string text;
  for (NodeId input : subject.graph->node(id).inputs) {
    const auto known = values.find(input);
    if (known == values.end() || elements_of(subject, input) != count) continue;
    text += fmt::format("{}{} is {:.9g} there", text.empty() ? "" : ", ",
                        subject.graph->describe(input), known->second.to_doubles()[at]);
  }
  return text;
}

}  // namespace

Numbers numbers_of(const TensorData& data) {
  Numbers numbers;
  if (!is_float(data.dtype)) return numbers;
  const std::vector<double> values = data.to_doubles();
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      if (numbers.n_nan++ == 0) numbers.first_nan = i;
    } else if (std::isinf(values[i])) {
      if (numbers.n_infinite++ == 0) numbers.first_infinite = i;
    } else {
      numbers.largest = std::max(numbers.largest, std::fabs(values[i]));
    }
  }
  return numbers;
}

std::string digest_of(const TensorData& data) {
  constexpr size_t kDigits = 16;
  const auto* first = reinterpret_cast<const char*>(data.bytes.data());
  return base::digest({first, data.bytes.size()}).substr(0, kDigits);
}

double interpreted_elements(const Subject& subject) {
  double elements = 0;
  for (NodeId id : topological_order(*subject.graph, roots(*subject.graph))) {
    if (subject.graph->node(id).op != Op::Input) {
      elements += static_cast<double>(elements_of(subject, id));
    }
  }
  return elements;
}

std::optional<BadElement> first_made(const Subject& subject, Wanted wanted) {
  constexpr double kMostElements = 2e7;  // in memory at once
  if (interpreted_elements(subject) > kMostElements) return std::nullopt;
  const Graph& graph = *subject.graph;
  const std::vector<NodeId> order = topological_order(graph, roots(graph));
  interpret::Interpreter interpreter(graph, subject.sizes, leaf_data(subject));
  const std::vector<TensorData> all = interpreter.values(order);
  std::map<NodeId, TensorData> values;
  for (size_t i = 0; i < order.size(); ++i) values.emplace(order[i], all[i]);
  for (NodeId id : order) {
    const TensorData& value = values.at(id);
    const Numbers numbers = numbers_of(value);
    if (!has(numbers, wanted)) continue;
    const size_t at = wanted == Wanted::NaN ? numbers.first_nan : numbers.first_infinite;
    return BadElement{.node = id,
                      .element = element_text(at, value.dims),
                      .found = wanted == Wanted::NaN ? "nan"  // without a sign, which means nothing
                                                     : fmt::format("{}", value.to_doubles()[at]),
                      .why = operands_at(subject, id, at, elements_of(subject, id), values)};
  }
  return std::nullopt;
}

std::optional<BadElement> first_wrong_index(const Subject& subject) {
  const Graph& graph = *subject.graph;
  for (NodeId id : topological_order(graph, roots(graph))) {
    const Node& node = graph.node(id);
    if (node.op != Op::Gather && node.op != Op::Scatter) continue;
    const Result<ResolvedDims> data = resolve_dims(graph.node(node.inputs[0]).dims, subject.sizes);
    if (!data) continue;
    const int64_t rows = data->sizes[0];
    interpret::Interpreter interpreter(graph, subject.sizes, leaf_data(subject));
    const NodeId wanted[] = {node.inputs[1]};
    const TensorData index = interpreter.values(wanted).front();
    const std::vector<int64_t> values = index.to_ints();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= 0 && values[i] < rows) continue;
      return BadElement{
          .node = id,
          .element = element_text(i, index.dims),
          .found = std::to_string(values[i]),
          .why = fmt::format("{} has rows 0 … {}; {} is the index", graph.describe(node.inputs[0]),
                             rows - 1, graph.describe(node.inputs[1]))};
    }
  }
  return std::nullopt;
}

}  // namespace luminal::debug

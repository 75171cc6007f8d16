#include "apps/inspect/debug/subject.h"

#include <fmt/format.h>

#include "luminal/base/check.h"
#include "luminal/driver/check/elements.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {

TensorData leaf_data(const Subject& subject, NodeId leaf) {
  const auto given = subject.given.find(leaf);
  if (given != subject.given.end()) return given->second;
  if (const std::optional<TensorData> own = subject.graph->data(leaf)) return *own;
  const Node& node = subject.graph->node(leaf);
  const Result<ResolvedDims> dims = resolve_dims(node.dims, subject.sizes);
  LUMINAL_CHECK(dims, dims.why());
  return TensorData::zeros(node.dtype, dims->sizes).data;
}

interpret::LeafData leaf_data(const Subject& subject) {
  return [&subject](NodeId leaf) { return leaf_data(subject, leaf); };
}

search::PlanningOptions inspect_options(const Subject& subject) {
  search::PlanningOptions options = planning_options(*subject.graph, subject.options);
  if (subject.plant) subject.plant(options);
  return options;
}

std::string text_of(const Bindings& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes.items()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::string element_text(size_t flat, const std::vector<int64_t>& dims) {
  return position_text(flat, dims);
}

}  // namespace luminal::debug

#include "luminal/nn/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal::nn {
namespace {

bool is_weight(const Node& node) {
  return node.op == Op::Input && node.as<InputAttr>().role == Role::Weight;
}

}  // namespace

Scope::Scope(Graph& graph, std::string prefix, DType dtype)
    : home_(graph.home()), prefix_(std::move(prefix)), dtype_(dtype) {}

Graph& Scope::graph() const {
  if (home_->graph == nullptr) {
    throw UserError(fmt::format(
        "nn: scope '{}' was used after its Graph is gone; keep the Graph as long as its scopes",
        prefix_));
  }
  return *home_->graph;
}

Scope Scope::with_formats(WeightFormats formats) const {
  Scope same = *this;
  same.formats_ = std::make_shared<const WeightFormats>(std::move(formats));
  return same;
}

std::string Scope::path(std::string_view name) const {
  if (prefix_.empty()) return std::string(name);
  return fmt::format("{}.{}", prefix_, name);
}

Scope Scope::child(std::string_view name) const {
  if (name.empty()) throw UserError(fmt::format("nn: a child of scope '{}' needs a name", prefix_));
  Scope inner = *this;
  inner.prefix_ = path(name);
  return inner;
}

Scope Scope::child(int index) const { return child(std::to_string(index)); }

Tensor Scope::weight(std::string_view name, const Dims& dims) const {
  if (std::optional<Quantised> planes = quantised(name, dims)) {
    return dequantise(*planes).cast(dtype_);
  }
  return leaf(path(name), dims, dtype_);
}

std::optional<Quantised> Scope::quantised(std::string_view name, const Dims& dims) const {
  const std::string full = path(name);
  const std::optional<BlockFormat> format = formats_ ? (*formats_)(full) : std::nullopt;
  if (!format) return std::nullopt;
  if (dims.empty() || !(dims.back() % format->block).is(0)) {
    throw UserError(
        fmt::format("nn: weight '{}' {} is quantised in blocks of {}, which don't "
                    "divide its last axis",
                    full, text(dims), format->block));
  }
  Dims blocks = dims;
  blocks.back() = blocks.back() / format->block;
  const auto plane = [&](std::string_view part, const Dims& of, DType dtype) {
    return leaf(fmt::format("{}.{}", full, part), of, dtype);
  };
  Quantised planes{.format = *format,
                   .quants = plane(kQuantsName, dims, format->quants),
                   .scales = plane(kScalesName, blocks, format->scales)};
  if (format->offsets) planes.offsets = plane(kOffsetsName, blocks, format->scales);
  return planes;
}

// A weight by its full name, created on first use.
Tensor Scope::leaf(const std::string& full, const Dims& dims, DType dtype) const {
  if (std::any_of(dims.begin(), dims.end(), [](Expr dim) { return !dim.to_int(); })) {
    throw UserError(
        fmt::format("nn: weight '{}' would have the dims {}; a weight's dims must be numbers: give "
                    "the layer an "
                    "input whose feature dims are fixed",
                    full, text(dims)));
  }
  std::optional<Tensor> found = graph().find(full);
  if (!found) return graph().weight(full, dims, dtype);
  if (is_weight(found->node()) && same_dims(found->dims(), dims) && found->dtype() == dtype) {
    return *found;
  }
  throw UserError(fmt::format(
      "nn: weight '{}' {} {} can't share the name of {}, which is {} {}; use another scope", full,
      luminal::name(dtype), text(dims), found->describe(), luminal::name(found->dtype()),
      text(found->dims())));
}

std::vector<Parameter> parameters(const Graph& graph) {
  std::vector<Parameter> result;
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.removed || !is_weight(node)) continue;
    const std::string& name = node.as<InputAttr>().name;
    if (name.starts_with("literal.")) continue;  // see Graph::literal
    Parameter parameter{.name = name, .dims = {}, .dtype = node.dtype};
    for (Expr dim : node.dims) {
      auto size = dim.to_int();
      if (!size) {
        throw UserError(fmt::format("parameters: weight '{}' has the dims {}, which aren't numbers",
                                    name, text(node.dims)));
      }
      parameter.dims.push_back(*size);
    }
    result.push_back(std::move(parameter));
  }
  std::sort(result.begin(), result.end(),
            [](const Parameter& a, const Parameter& b) { return a.name < b.name; });
  return result;
}

int64_t n_parameters(const Graph& graph) {
  int64_t total = 0;
  for (const Parameter& parameter : parameters(graph)) {
    int64_t count = 1;
    for (int64_t dim : parameter.dims) count *= dim;
    total += count;
  }
  return total;
}

}  // namespace luminal::nn

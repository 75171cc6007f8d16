// Resolves the tensor that a call refers to, and the error message if there is none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/base/text/near_names.h"
#include "luminal/driver/execute/executable_impl.h"

namespace luminal {
namespace {

constexpr size_t kMostListed = 8;  // names in a message

const std::string& leaf_name(const Graph& graph, NodeId leaf) {
  return graph.node(leaf).as<InputAttr>().name;
}

// Names that get() knows besides leaves.
std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Output& output : graph.outputs()) {
    const std::string& name = output.name.empty() ? graph.node(output.node).label : output.name;
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> leaf_names(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId leaf : graph.leaves()) names.push_back(leaf_name(graph, leaf));
  return names;
}

std::string listed(std::vector<std::string> names) {
  if (names.empty()) return "none";
  const size_t more = names.size() - std::min(names.size(), kMostListed);
  names.resize(names.size() - more);
  return fmt::format("'{}'{}", fmt::join(names, "', '"),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

void Executable::Impl::no_such_name(std::string_view name, const char* asked,
                                    bool leaves_only) const {
  std::vector<std::string> names = leaves_only ? std::vector<std::string>() : output_names(*graph);
  const std::vector<std::string> leaves = leaf_names(*graph);
  names.insert(names.end(), leaves.begin(), leaves.end());
  const std::vector<std::string> near = base::near_names(name, names);
  throw UserError(fmt::format(
      "{} '{}': the graph has no {} of this name; {}", asked, name,
      leaves_only ? "input, weight or state" : "output, kept tensor, input, weight or state",
      near.empty() ? "it has: " + listed(names) : fmt::format("did you mean {}?", listed(near))));
}

NodeId Executable::Impl::owned(const Tensor& tensor, const char* asked) const {
  if (!tensor.valid()) {
    throw UserError(fmt::format("{}: the tensor is empty; use one of the compiled graph", asked));
  }
  if (tensor.home() != source) {
    throw UserError(
        fmt::format("{}: {} belongs to another graph than the compiled one; use a tensor of that "
                    "graph, or its name",
                    asked, tensor.describe()));
  }
  if (tensor.id().index() >= graph->size()) {
    throw UserError(
        fmt::format("{}: {} is not part of the graph as it was compiled; compile again after "
                    "changing the graph",
                    asked, tensor.describe()));
  }
  return tensor.id();
}

size_t Executable::Impl::checked(ExecutablePort port, const char* asked) const {
  if (port.index() < ports().size()) return port.index();
  throw UserError(fmt::format("{}: the port is of another executable", asked));
}

size_t Executable::Impl::leaf_of(const TensorRef& tensor, const char* asked) const {
  if (tensor.port().valid()) {
    const size_t port = checked(tensor.port(), asked);
    if (ports()[port].role != runtime::PortRole::Output) return port;
    throw UserError(fmt::format("{}: '{}' is computed; only inputs, weights and states can be set",
                                asked, ports()[port].name));
  }
  NodeId id;
  if (tensor.tensor() != nullptr) {
    id = owned(*tensor.tensor(), asked);
  } else {
    std::optional<NodeId> found = graph->find_leaf(tensor.name());
    if (!found) found = graph->find_output(tensor.name());
    if (!found) no_such_name(tensor.name(), asked, true);
    id = *found;
  }
  auto it = leaf_port.find(id);
  if (it == leaf_port.end()) {
    throw UserError(fmt::format(
        "{} {}: it is computed; only inputs, weights and states can be set, here {}", asked,
        tensor.tensor() != nullptr ? graph->describe(id) : fmt::format("'{}'", tensor.name()),
        listed(leaf_names(*graph))));
  }
  return it->second;
}

size_t Executable::Impl::value_of(const TensorRef& tensor, const char* asked) const {
  if (tensor.port().valid()) return checked(tensor.port(), asked);
  NodeId id;
  if (tensor.tensor() != nullptr) {
    id = owned(*tensor.tensor(), asked);
  } else if (const auto output = graph->find_output(tensor.name())) {
    return result_port.at(*output);
  } else if (const auto leaf = graph->find_leaf(tensor.name())) {
    id = *leaf;
  } else {
    no_such_name(tensor.name(), asked, false);
  }
  // A leaf's own slot is newer than a copy of it made by a run.
  if (auto leaf = leaf_port.find(id); leaf != leaf_port.end()) return leaf->second;
  if (auto result = result_port.find(id); result != result_port.end()) return result->second;
  throw UserError(
      fmt::format("{} {}: its value isn't kept; call keep() or output() on it before compile()",
                  asked, graph->describe(id)));
}

size_t Executable::Impl::result_of(const TensorRef& tensor, const char* asked) const {
  const size_t port = value_of(tensor, asked);
  if (ports()[port].role != runtime::PortRole::Output) {
    throw UserError(fmt::format("{} '{}': only outputs and kept tensors can be bound; use set()",
                                asked, ports()[port].name));
  }
  return port;
}

ExecutablePort Executable::leaf_port(const TensorRef& tensor) const {
  return ExecutablePort::at(impl().leaf_of(tensor, "leaf_port"));
}

ExecutablePort Executable::result_port(const TensorRef& tensor) const {
  return ExecutablePort::at(impl().result_of(tensor, "result_port"));
}

}  // namespace luminal

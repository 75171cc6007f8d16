// compile(), stage by stage: the path of a program.
#include <algorithm>

#include "luminal/backends/registry.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/executable_impl.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"

namespace luminal {
namespace {

// What must be readable after a run: outputs, kept tensors and probes.
std::vector<NodeId> results(const Graph& graph) {
  std::vector<NodeId> ids;
  for (const Output& output : graph.outputs()) ids.push_back(output.node);
  for (const Probe& probe : graph.probes()) ids.push_back(probe.node);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

Executable compile(const Graph& graph, const CompileOptions& options) {
  verify(graph);
  const backends::Backend& backend = backends::find_backend(options.backend);
  std::shared_ptr<const Graph> snapshot = graph.clone();
  const backends::PortMap ports = {.leaves = snapshot->leaves(), .results = results(*snapshot)};

  auto impl = std::make_unique<Executable::Impl>();
  impl->graph = snapshot;
  impl->source = &graph;
  impl->program = backend.load(snapshot, ports, {.float64 = options.float64});
  impl->variables = variables(*snapshot);
  impl->slots.resize(impl->program->ports().size());
  for (size_t i = 0; i < ports.leaves.size(); ++i) impl->leaf_port[ports.leaves[i]] = i;
  for (size_t i = 0; i < ports.results.size(); ++i) {
    impl->result_port[ports.results[i]] = ports.leaves.size() + i;
  }
  for (NodeId leaf : ports.leaves) {
    if (auto data = snapshot->data(leaf)) impl->bind_data(impl->leaf_port.at(leaf), *data);
  }
  return Executable(std::move(impl));
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (std::string_view name : backends::backend_names()) names.emplace_back(name);
  return names;
}

}  // namespace luminal

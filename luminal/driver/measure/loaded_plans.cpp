#include "luminal/driver/measure/loaded_plans.h"

#include <algorithm>
#include <chrono>

#include "luminal/base/check.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

// Ignores indices out of bounds: values are made up when timing.
class IndicesDontMatter : public runtime::IndexJudge {
 public:
  void judge() override {}
};

}  // namespace

using runtime::Buffer;

interpret::LeafData leaf_data(const RunnableGraph& graph) {
  return [&graph](NodeId id) {
    const auto at = std::ranges::find(graph.graph->leaves(), id) - graph.graph->leaves().begin();
    const Node& node = graph.graph->node(id);
    const Result<ResolvedDims> dims = resolve_dims(node.dims, graph.sizes);
    LUMINAL_CHECK(dims, dims.why());
    return TensorData{.dtype = node.dtype,
                      .dims = dims->sizes,
                      .bytes = graph.leaves[static_cast<size_t>(at)].bytes(),
                      .owner = nullptr};
  };
}

LoadedPlans::LoadedPlans(const RunnableGraph& graph, const backends::Backend& backend,
                         const backends::LoadOptions& options,
                         std::span<const std::shared_ptr<const kernel::PlannedGraph>> plans)
    : sizes_(graph.sizes), n_leaves_(graph.leaves.size()) {
  std::vector<backends::LoadRequest> requests;
  for (const auto& planned : plans) {
    requests.push_back({.graph = graph.graph,
                        .ports = {.leaves = graph.graph->leaves(), .results = graph.results},
                        .options = options,
                        .planned = planned});
  }
  programs_ = backend.load(requests, nullptr);
  const std::vector<runtime::Port>& ports = programs_.front()->ports();
  for (size_t p = 0; p < ports.size(); ++p) {
    if (p < graph.leaves.size()) {
      // A run updates states in place, which borrowed bytes don't allow.
      const bool state = ports[p].role == runtime::PortRole::State;
      buffers_.push_back(state ? graph.leaves[p].copy() : graph.leaves[p]);
      continue;
    }
    const Result<ResolvedDims> dims = resolve_dims(ports[p].dims, sizes_);
    LUMINAL_CHECK(dims, dims.why());
    buffers_.push_back(Buffer::allocate(dims->bytes(ports[p].dtype)));
  }
}

std::vector<double> LoadedPlans::result(size_t number) const {
  const size_t port = n_leaves_ + number;
  const runtime::Port& of = programs_.front()->ports()[port];
  return TensorData{.dtype = of.dtype,
                    .dims = resolve_dims(of.dims, sizes_)->sizes,
                    .bytes = buffers_[port].bytes(),
                    .owner = nullptr}
      .to_doubles();
}

double LoadedPlans::run(size_t plan, runtime::StepObserver* observer) {
  const auto start = std::chrono::steady_clock::now();
  IndicesDontMatter judge;
  programs_[plan]->run(sizes_, buffers_, {.observer = observer, .index_judge = &judge});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace luminal

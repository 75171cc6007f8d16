// compile(), stage by stage: the path of a program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/backends/registry.h"
#include "luminal/base/errors.h"
#include "luminal/base/os_paths.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/executable_impl.h"
#include "luminal/driver/planning.h"
#include "luminal/graph/text_form.h"
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

// Empty where no kernel is to be kept. A user without a home still compiles, and is told.
std::filesystem::path cache_folder(const std::string& option, CompileReport& report) {
  if (option == "none") return {};
  if (!option.empty()) return option;
  try {
    return base::cache_folder() / "kernels";
  } catch (const UserError& error) {
    report.notes.push_back(fmt::format("compiled kernels are not kept: {}", error.what()));
    return {};
  }
}

std::unique_ptr<runtime::Program> load(const backends::Backend& backend,
                                       const backends::LoadRequest& request,
                                       CompileReport& report) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<backends::KernelListing> listing;
  std::unique_ptr<runtime::Program> program = backend.load(request, &listing);
  int cached = 0;
  for (size_t i = 0; i < listing.size(); ++i) {
    KernelReport& kernel = report.kernels[i];
    kernel.compile_ms = listing[i].compile_ms;
    kernel.from_cache = listing[i].from_cache;
    kernel.low_level = std::move(listing[i].low_level);
    kernel.assembly = std::move(listing[i].assembly);
    cached += kernel.from_cache;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  end_stage(report, "kernels", taken.count(),
            fmt::format("{} compiled, {} from the cache",
                        listing.size() - static_cast<size_t>(cached), cached),
            [&] {
              std::string text;
              for (const KernelReport& kernel : report.kernels) text += kernel.low_level();
              return text;
            });
  return program;
}

}  // namespace

Executable compile(const Graph& graph, const CompileOptions& options) {
  CompileReport unread;
  CompileReport& report = options.report != nullptr ? *options.report : unread;
  const auto start = std::chrono::steady_clock::now();
  verify(graph);
  const backends::Backend& backend = backends::find_backend(options.backend);
  std::shared_ptr<const Graph> snapshot = graph.clone();
  const std::chrono::duration<double> verified = std::chrono::steady_clock::now() - start;
  end_stage(report, "graph", verified.count(), fmt::format("{} nodes", graph.size()),
            [&] { return print_graph(graph); });

  backends::LoadRequest request;
  request.graph = snapshot;
  request.ports = {.leaves = snapshot->leaves(), .results = results(*snapshot)};
  request.options = {.float64 = options.float64,
                     .threads = threads_of(options),
                     .target = options.target,
                     .cache_folder = cache_folder(options.cache_folder, report)};
  report.target = backend.target(request.options);
  if (backend.runs_plans())
    request.planned = plan_graph(*snapshot, roots(*snapshot), options, report);

  auto impl = std::make_unique<Executable::Impl>();
  impl->graph = snapshot;
  impl->source = &graph;
  impl->program = load(backend, request, report);
  impl->variables = variables(*snapshot);
  impl->slots.resize(impl->program->ports().size());
  const backends::PortMap& ports = request.ports;
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

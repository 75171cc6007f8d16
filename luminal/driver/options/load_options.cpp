#include "luminal/driver/options/load_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/graph/verify.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal {
std::vector<NodeId> run_results(const Graph& graph) {
  std::vector<NodeId> ids;
  for (const Output& output : graph.outputs()) ids.push_back(output.node);
  for (const Probe& probe : graph.probes()) ids.push_back(probe.node);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

int threads_of(const BackendOptions& options) {
  // With more threads the process would end if the machine has no room for their stacks.
  const int most = std::max(256, 4 * static_cast<int>(base::usable_threads()));
  if (options.threads < 0 || options.threads > most) {
    throw UserError(
        fmt::format("compile: {} threads are not available on this machine; ask for 1 to {}, or 0 "
                    "for all that this process may use",
                    options.threads, most));
  }
  return options.threads > 0 ? options.threads : static_cast<int>(base::usable_threads());
}

std::filesystem::path cache_folder(const std::string& option) {
  if (option == "none") return {};
  return option.empty() ? base::cache_folder() / "kernels" : std::filesystem::path(option);
}

backends::LoadOptions load_options(const CompileOptions& options, const Graph& graph,
                                   const Bindings& sizes, const std::filesystem::path& folder) {
  return {.threads = threads_of(options.backend),
          .target = options.backend.target,
          .cache_folder = folder,
          .cache_bytes = options.storage.cache_bytes,
          .typical_sizes = search::representative_sizes(variables(graph), sizes),
          .library = options.backend.library,
          .thread_speed = thread_speed(machine_peaks(options.storage, options.backend.target)),
          .reorder_sums = options.plan.numerics >= Numerics::Reassociating,
          .finite = options.plan.numerics >= Numerics::Finite};
}

}  // namespace luminal

// The request to a backend that follows from compile options: for compile() and others that load
// plans like it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/driver/compile.h"

namespace luminal {

// What must be readable after a run: outputs, kept tensors and probes.
std::vector<NodeId> run_results(const Graph& graph);

// The threads that kernels run on: as asked for, or all this process may use.
int threads_of(const BackendOptions& options);

// The folder of cached plans and kernels; empty if nothing is cached. UserError without a home
// directory.
std::filesystem::path cache_folder(const std::string& option);

// `sizes` are typical values of the graph's variables; others get representative ones.
backends::LoadOptions load_options(const CompileOptions& options, const Graph& graph,
                                   const Bindings& sizes, const std::filesystem::path& folder);

}  // namespace luminal

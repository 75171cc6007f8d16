// What a backend is asked for, from the options of a compile: for compile() and whoever loads a
// plan as it does.
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
int threads_of(const CompileOptions& options);

// Where plans and kernels are kept; empty where nothing is to be. UserError for a user without a
// home.
std::filesystem::path cache_folder(const std::string& option);

// `sizes` are typical ones of the graph's variables, of which others get theirs by the search.
backends::LoadOptions load_options(const CompileOptions& options, const Graph& graph,
                                   const Bindings& sizes, const std::filesystem::path& folder);

}  // namespace luminal

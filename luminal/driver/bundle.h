// Bundle: a compiled graph as bytes or a file: the graph, its plan and the machine code of its
// kernels, without weights. Loading it runs exactly that code, whatever the compiler's sources are
// by then: a program starts without compiling, and benchmarks compare a build with an earlier one.
//
// It runs as long as the formats of plans, code and launches are the same (format_fingerprint), on
// the same kind of processor. Everything around kernels (order of steps, memory, threads) is the
// loading build's own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/driver/compile.h"

namespace luminal {

// Compiles a graph, without data of its leaves. UserError for a backend that doesn't compile, and
// for options with libraries or variants: those can't be bundled.
LUMINAL_API std::string make_bundle(const Graph& graph, const CompileOptions& options = {});
// The same as a file, written atomically.
LUMINAL_API void save_bundle(const std::string& path, const Graph& graph,
                             const CompileOptions& options = {});

struct LoadedBundle {
  std::unique_ptr<Graph> graph;  // the caller sets its leaves, by name
  Executable executable;
  std::string made_by;  // the version and fingerprint of the compiler that made it
};

// With the number of threads it was made for. The bytes are code that will run: only bundles sealed
// by this user are loaded. UserError with the reason and the way out if it can't be run.
LUMINAL_API LoadedBundle load_bundle(std::string_view bytes);
// The same from a file.
LUMINAL_API LoadedBundle open_bundle(const std::string& path);

// The last step of make_bundle(): the content with its digest and this user's seal.
std::string seal_bundle(std::string_view content);

}  // namespace luminal

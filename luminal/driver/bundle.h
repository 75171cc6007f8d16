// Bundle: a compiled graph as bytes or a file: the graph, its plan and the machine code of its
// kernels, without weights. Who loads it runs that very code, whatever the sources of the compiler
// are by then: a program starts without compiling, and benchmarks compare a build with an earlier
// one.
//
// It runs where plans and code are still written down and launched alike (format_fingerprint), on
// the same kind of processor. What is around kernels (the order of steps, memory, threads) is the
// loading build's own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/driver/compile.h"

namespace luminal {

// Compiles a graph, without data of its leaves. UserError for a backend that compiles nothing, for
// libraries and for variants: none of them can be kept.
LUMINAL_API std::string make_bundle(const Graph& graph, const CompileOptions& options = {});
// The same as a file; `path` never holds half of one.
LUMINAL_API void save_bundle(const std::string& path, const Graph& graph,
                             const CompileOptions& options = {});

struct LoadedBundle {
  std::unique_ptr<Graph> graph;  // whose leaves are to be set, by their names
  Executable executable;
  std::string made_by;  // the version and fingerprint of the compiler that made it
};

// With as many threads as it was made for. The bytes are code that will run: only those that this
// user sealed are loaded. UserError that says why it can't be run, and the way out.
LUMINAL_API LoadedBundle load_bundle(std::string_view bytes);
// The same from a file.
LUMINAL_API LoadedBundle open_bundle(const std::string& path);

// What make_bundle() ends in: the content with its digest and this user's seal.
std::string seal_bundle(std::string_view content);

}  // namespace luminal

// A graph without a plan: an error that says at which op, which rule comes nearest, and what it
// lacks.
#pragma once

#include <exception>

#include "luminal/driver/compile.h"

namespace luminal {

// Plans again, slowly and looking, and throws an InternalError with what it found; the first error
// stands in it too.
[[noreturn]] void throw_no_plan(const Graph& graph, const CompileOptions& options,
                                const std::exception& error);

}  // namespace luminal

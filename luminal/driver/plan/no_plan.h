// A graph without a plan: an error that says at which op, which rule comes nearest, and what it
// lacks.
#pragma once

#include <exception>

#include "luminal/driver/compile.h"

namespace luminal {

// Plans again under the same options, slowly and looking, and throws what it found: a UserError
// where a rule of the user's is the cause, else an InternalError with the first error in it.
[[noreturn]] void throw_no_plan(const Graph& graph, const CompileOptions& options,
                                const std::exception& error);

}  // namespace luminal

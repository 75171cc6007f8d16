// The error for a graph without a plan: it names the op, the rule that comes nearest, and what that
// lacks.
#pragma once

#include <exception>

#include "luminal/driver/compile.h"

namespace luminal {

// Plans again with the same options and full inspection, and throws the cause: a UserError if a
// rule of the user's is to blame, else an InternalError that includes the first error.
[[noreturn]] void throw_no_plan(const Graph& graph, const CompileOptions& options,
                                const std::exception& error);

}  // namespace luminal

// Runs the commands of a program against an engine.
#pragma once

#include "luminal/egraph/files.h"
#include "luminal/egraph/language/ast.h"
#include "luminal/egraph/report.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/schedule.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

// A UserError names the position of the command. Commands before it keep their effects.
void run_commands(Engine& engine, std::span<const Command> commands, std::string_view source,
                  const RunLimits& limits, const Files& files, ProgramResult& result);

// Declarations shared by programs and the host; their errors have no source position yet.
FunctionId declare_constructor(Engine& engine, Function function);
FunctionId declare_relation(Engine& engine, Function function);
FunctionId declare_function(Engine& engine, Function function, Merge merge);

// UserError if there is no finite term, or its text would be huge. Rebuilds.
ExtractedTerm extract_value(Engine& engine, Value value, SortId sort);

}  // namespace luminal::egraph

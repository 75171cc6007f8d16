// models/model.json of a .pt2 file: the graph, its signature and its ranges, as an ExportedProgram.
#pragma once

#include <string>
#include <string_view>

#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// UserError with the place for what the schema (major version 8) doesn't allow.
ExportedProgram parse_program(std::string_view json, const std::string& source);

}  // namespace luminal::pytorch

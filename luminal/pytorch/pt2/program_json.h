// models/model.json of a .pt2 file: the graph, its signature and its ranges, as an ExportedProgram.
#pragma once

#include <string>
#include <string_view>

#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// UserError with the place for what the schema (major version 8) doesn't allow.
ExportedProgram parse_program(std::string_view json, const std::string& source);

// A dtype by its number in the schema. UserError for one that the library lacks; `of` names the
// tensor.
DType dtype_by_number(int64_t number, std::string_view of);

}  // namespace luminal::pytorch

// Arguments of calls, as the schema's tagged unions have them.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// An object of one field, whose name is the kind.
struct Tagged {
  std::string kind;
  const nlohmann::json& json;
};
Tagged tagged(const nlohmann::json& json);

// The names of a graph's values. A graph within a call becomes part of the program: its values get
// a prefix, but for its inputs and results, which stand for what the call takes and gives.
struct Scope {
  std::string prefix;
  std::map<std::string, Argument, std::less<>> known;

  Argument value(const std::string& name) const;
  // The name in the program of what a call of the graph gives.
  std::string result(const std::string& name) const;
};

// UserError for kinds that aren't supported. Graphs are None.
Argument argument_of(const nlohmann::json& json, const Scope& scope);

// A dtype by its number in the schema. UserError for one that the library lacks; `of` names the
// tensor.
DType dtype_by_number(int64_t number, std::string_view of);

}  // namespace luminal::pytorch

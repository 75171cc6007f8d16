// The words that text forms share: graphs, kernels and plans are printed and parsed with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "luminal/base/text/line_reader.h"
#include "luminal/graph/node.h"

namespace luminal {

inline constexpr std::string_view kTextHeader = "luminal-graph";
inline constexpr int kTextVersion = 1;
inline constexpr int64_t kMostPrintedData = 64;

std::string_view role_text(Role role);  // "input", "weight" or "state"

std::string variable_line(Expr variable);  // "var s 1 4096", and a newline

// Each reads the next word of a line; UserError for one that isn't such.
Expr parse_variable(base::LineReader& line);  // what follows "var"
DType parse_dtype(base::LineReader& line);
Reducer parse_reducer(base::LineReader& line);

}  // namespace luminal

// The text form of a graph: one line per node, read back to the same graph.
//
//   luminal-graph 1
//   var s 1 4096
//   %0 = input "x" : f32[s, 64]
//   %1 = constant 0.5 : f32[]
//   %2 = view %1 [] : f32[s, 64]
//   %3 = mul %0 %2 : f32[s, 64] "scaled"
//   output "y" %3
//
// The first line carries the version of the format. Data of leaves is part of the text up to 64
// elements; above that a comment says what was left out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/graph.h"

namespace luminal {

LUMINAL_API std::string print_graph(const Graph& graph);

// Reads what print_graph prints. `source` names the text in messages (a file's path); `custom_ops`
// are the ops that lines of `custom "name"` refer to; `file_of` turns the path of a `diff` line
// into the file to read, or throws UserError (without it any path is taken, so text from others
// needs one). Throws UserError with line and way out.
LUMINAL_API std::unique_ptr<Graph> parse_graph(
    std::string_view text, std::string_view source = "graph",
    const std::map<std::string, CustomOp>& custom_ops = {},
    const std::function<std::string(const std::string& path)>& file_of = {});

}  // namespace luminal

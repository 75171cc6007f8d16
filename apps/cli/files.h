// Files that several subcommands read and write.
#pragma once

#include <memory>
#include <string>

#include "luminal/graph/graph.h"

namespace luminal::cli {

// A graph in its text form; "-" reads standard input.
std::unique_ptr<Graph> read_graph(const std::string& file);
void write_text(const std::string& path, const std::string& text);

}  // namespace luminal::cli

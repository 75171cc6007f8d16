// The program of a .pt2 file: inputs, sizes, outputs, weights, operators, guards, and what isn't
// supported.
#pragma once

#include <string>

namespace luminal::cli {

// Prints them as tables, or as JSON.
void print_program(const std::string& path, bool json);

}  // namespace luminal::cli

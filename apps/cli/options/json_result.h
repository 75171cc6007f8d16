// --json: a command's result as one JSON value on standard output.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
}

namespace luminal::cli {

// Defines the flag; `json` must live until the command line is parsed.
void add_json(CLI::App& app, bool& json);

// Indented, with a newline at its end; bytes that aren't UTF-8 become U+FFFD.
void print_json_result(const nlohmann::ordered_json& result);

}  // namespace luminal::cli

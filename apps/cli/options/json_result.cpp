#include "apps/cli/options/json_result.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

namespace luminal::cli {

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "Print the result as JSON");
}

void print_json_result(const nlohmann::ordered_json& result) {
  using Json = nlohmann::ordered_json;
  std::cout << result.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace luminal::cli

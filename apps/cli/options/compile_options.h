// The options of compile() that several subcommands offer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/options/search_options.h"
#include "luminal/driver/compile.h"

namespace CLI {
class App;
}

namespace luminal::cli {

struct CompileArguments {
  CompileOptions options;
  std::string fusion = "modelled";  // comma-separated: a policy and "PATTERN=POLICY"
  bool explain_fusion = false;
  std::string numerics = "reassociating";
  std::string library = "never";
  std::string rolling = "auto";
  std::vector<std::string> rule_files;
  std::vector<std::string> variants;  // "s=1,16"
  SearchArguments search;

  static constexpr const char* kGroup = "Compiling";

  // Defines the options; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  // Defines all but those of the search.
  void add_code_to(CLI::App& app);
  // Defines only those that the plan depends on.
  void add_planning_to(CLI::App& app);
  // Defines --explain-fusion, for commands that have a report to print it from.
  void add_explain_fusion_to(CLI::App& app);
  // The given options.
  CompileOptions parsed() const;
};

// What --explain-fusion prints.
std::string explain_fusion_text(const CompileReport& report);

}  // namespace luminal::cli

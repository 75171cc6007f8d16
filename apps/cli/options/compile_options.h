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
  std::string fusion = "modelled";  // a policy, and "PATTERN=POLICY"s, with commas between
  bool explain_fusion = false;
  std::string numerics = "reassociating";
  std::string library = "never";
  std::string rolling = "auto";
  std::vector<std::string> rule_files;
  std::vector<std::string> variants;  // "s=1,16"
  SearchArguments search;

  static constexpr const char* kGroup = "Compiling";

  // Defines them; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  // Those alone that the plan depends on.
  void add_planning_to(CLI::App& app);
  // --explain-fusion, for those that have a report to print it of.
  void add_explain_fusion_to(CLI::App& app);
  // As they were given.
  CompileOptions parsed() const;
};

// What --explain-fusion prints of a report.
std::string explain_fusion_text(const CompileReport& report);

}  // namespace luminal::cli

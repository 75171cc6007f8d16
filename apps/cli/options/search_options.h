// The options of the plan search, for every subcommand that compiles.
#pragma once

#include <string>

#include "luminal/driver/compile.h"

namespace CLI {
class App;
}

namespace luminal::cli {

struct SearchArguments {
  std::string mode = "recorded";
  PlanSearch search;
  std::string records;
  std::string events_file;

  static constexpr const char* kGroup = "Search";

  // Defines the options; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  // Defines all but --search, for a command that always measures.
  void add_measured_to(CLI::App& app);
  // Applies the given options. The first Ctrl-C ends a search, which keeps what it found; the
  // second one ends the program.
  void apply(CompileOptions& options) const;
};

}  // namespace luminal::cli

// -q and -v of commands that show their progress.
#pragma once

namespace CLI {
class App;
}

namespace luminal::cli {

struct ProgressArguments {
  bool quiet = false;
  bool verbose = false;

  // Defines the options; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
};

}  // namespace luminal::cli

#include "apps/cli/options/progress_options.h"

#include <CLI/CLI.hpp>

namespace luminal::cli {

void ProgressArguments::add_to(CLI::App& app) {
  CLI::Option* silent = app.add_flag("-q,--quiet", quiet, "Show no progress");
  app.add_flag("-v,--verbose", verbose, "Show progress even if standard error is no terminal")
      ->excludes(silent);
}

}  // namespace luminal::cli

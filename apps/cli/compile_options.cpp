#include "apps/cli/compile_options.h"

#include <CLI/CLI.hpp>

namespace luminal::cli {

void CompileArguments::add_to(CLI::App& app) {
  app.add_option("--backend", options.backend, "cpu or interp")->capture_default_str();
  app.add_option("--fusion", fusion, "Where the model says it pays, always or never")
      ->check(CLI::IsMember({"modelled", "always", "never"}))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "0: as many as this process may use")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cache", options.cache_folder,
                 "Where compiled kernels are kept: a folder, or 'none'");
}

CompileOptions CompileArguments::parsed() const {
  CompileOptions result = options;
  result.fusion = fusion == "always"  ? FusionPolicy::Always
                  : fusion == "never" ? FusionPolicy::Never
                                      : FusionPolicy::Modelled;
  return result;
}

}  // namespace luminal::cli

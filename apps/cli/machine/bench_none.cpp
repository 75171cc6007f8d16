// luminal bench in a build without benchmarks: prints that.
#include <CLI/CLI.hpp>

#include "apps/cli/options/command.h"
#include "luminal/base/errors.h"

namespace luminal::cli {

void define_bench(CLI::App& app) {
  app.allow_extras();
  app.callback([] {
    throw UserError(
        "bench: this build has no benchmarks; configure one with -D LUMINAL_BUILD_BENCHMARKS=ON");
  });
}

}  // namespace luminal::cli

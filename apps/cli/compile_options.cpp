#include "apps/cli/compile_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/cli/files.h"

namespace luminal::cli {
namespace {

const std::vector<std::string> kNumerics = {"exact", "reassociating", "finite", "approximate"};

Numerics numerics_of(const std::string& name) {
  const auto it = std::find(kNumerics.begin(), kNumerics.end(), name);
  return static_cast<Numerics>(it - kNumerics.begin());
}

}  // namespace

void CompileArguments::add_to(CLI::App& app) {
  app.add_option("--backend", options.backend, "cpu or interp")->capture_default_str();
  app.add_option(
      "--target", options.target,
      "The instruction set of cpu kernels: avx512, avx2 or sse2; this machine's best if not "
      "said");
  app.add_option("--fusion", fusion, "Where the model says it pays, always or never")
      ->check(CLI::IsMember({"modelled", "always", "never"}))
      ->capture_default_str();
  app.add_option("--numerics", numerics,
                 "Which rules may run, by what they may change about the numbers")
      ->check(CLI::IsMember(kNumerics))
      ->capture_default_str();
  app.add_option("--rules", rule_files, "Files with rules of your own; see docs/rules.md");
  app.add_option("--disable-rules", options.disable_rules,
                 "Groups of rules that don't run; `luminal rules list` names them");
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
  result.numerics = numerics_of(numerics);
  for (const std::string& file : rule_files) {
    result.rules.push_back({source_name(file), read_text(file)});
  }
  return result;
}

}  // namespace luminal::cli

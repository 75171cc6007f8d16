#include "apps/cli/options/compile_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "apps/cli/files/files.h"
#include "apps/cli/options/numbers.h"
#include "luminal/search/fusion/fusion_pattern.h"

namespace luminal::cli {
namespace {

const std::vector<std::string> kNumerics = {"exact", "reassociating", "finite", "approximate"};

Numerics numerics_of(const std::string& name) {
  const auto it = std::find(kNumerics.begin(), kNumerics.end(), name);
  return static_cast<Numerics>(it - kNumerics.begin());
}

const std::vector<std::pair<std::string, FusionPolicy>> kFusionPolicies = {
    {"modelled", FusionPolicy::Modelled},
    {"measured", FusionPolicy::Measured},
    {"always", FusionPolicy::Always},
    {"never", FusionPolicy::Never}};

std::optional<FusionPolicy> fusion_policy_of(const std::string& word) {
  for (const auto& [policy_name, policy] : kFusionPolicies) {
    if (policy_name == word) return policy;
  }
  return std::nullopt;
}

// Parses "measured,swiglu=never" into the options; returns an error message, or nothing.
std::string set_fusion(const std::string& text, CompileOptions& options) {
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string word = equals == std::string::npos ? part : part.substr(equals + 1);
    const std::optional<FusionPolicy> policy = fusion_policy_of(word);
    if (!policy) {
      return "'" + word + "' isn't a policy; there is modelled, measured, always and never";
    }
    if (equals == std::string::npos) {
      options.fusion = *policy;
      continue;
    }
    const std::string pattern = part.substr(0, equals);
    if (!fusion_pattern_from_name(pattern)) {
      return "'" + pattern + "' isn't a pattern; there is " +
             CLI::detail::join(fusion_pattern_names(), " and ");
    }
    options.fusion_groups[pattern] = *policy;
  }
  return {};
}

// Parses "s=1,16": the bounds of the variants' ranges.
void add_variant(const std::string& text, CompileOptions& options) {
  const size_t equals = text.find('=');
  std::vector<int64_t> bounds;
  bool whole = equals != 0 && equals != std::string::npos;
  if (whole) {
    for (const std::string& part : CLI::detail::split(text.substr(equals + 1), ',')) {
      whole &= CLI::detail::lexical_cast(part, bounds.emplace_back());
    }
  }
  if (!whole) {
    throw CLI::ValidationError(
        "--variants", "'" + text + "' isn't VARIABLE=BOUND,…; write it like --variants s=1,16");
  }
  options.variants[text.substr(0, equals)] = bounds;
}

}  // namespace

void CompileArguments::add_to(CLI::App& app) {
  app.add_option("--backend", options.backend, "cpu or interp")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option(
         "--target", options.target,
         "The instruction set of cpu kernels: avx512, avx2 or sse2; this machine's best if not "
         "said")
      ->group(kGroup);
  app.add_option("--machine", options.machine,
                 "Plan for the machine whose peaks a file has, as `luminal doctor --measure` "
                 "prints and keeps them; default: this machine")
      ->type_name("FILE")
      ->group(kGroup);
  add_planning_to(app);
  app.add_option(
         "--library", library,
         "Whether oneDNN computes matrix products in place of compiled kernels: never, where "
         "it is measured to be faster, or always where it can")
      ->check(CLI::IsMember({"never", "measured", "always"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("-t,--threads", options.threads, "0: as many as this process may use")
      ->check(not_negative());
  app.add_option("--memory-limit", options.memory_limit,
                 "Bytes that a run may take beside inputs and weights, as 1048576 or 512MB; 0: the "
                 "control group's limit")
      ->transform(CLI::AsSizeValue(false))
      ->transform(whole_bytes())
      ->type_name("BYTES")
      ->group(kGroup);
  app.add_option(
         "--variants", variants,
         "Plans for ranges of a variable: s=1,16 has one up to 1, one up to 16, one for more")
      ->type_name("VARIABLE=BOUNDS")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--cache", options.cache_folder,
                 "Where plans and compiled kernels are kept: a folder, or 'none'");
  search.add_to(app);
}

void CompileArguments::add_planning_to(CLI::App& app) {
  app.add_option(
         "--fusion", fusion,
         "What kernels keep to themselves: modelled (where the model says it pays), always, "
         "never, or measured; and by pattern, as in measured,swiglu=never. docs/fusion.md")
      ->check(CLI::Validator(
          [](const std::string& text) {
            CompileOptions unread;
            return set_fusion(text, unread);
          },
          "POLICY|PATTERN=POLICY,…"))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--fusion-profile", options.fusion_profile,
                 "What fusing was measured to do, for policy measured: a file of `luminal tune "
                 "fusion`. What it doesn't hold is measured, and kept in it")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--numerics", numerics,
                 "Which rules may run, by what they may change about the numbers")
      ->check(CLI::IsMember(kNumerics))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--rolling", rolling,
                 "Whether layers that repeat are planned once: off, auto, or always, however small")
      ->check(CLI::IsMember({"off", "auto", "always"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--rules", rule_files, "A file with rules of your own; see docs/rules.md")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--disable-rules", options.disable_rules,
                 "A group of rules that doesn't run; `luminal rules list` names them")
      ->type_name("GROUP")
      ->allow_extra_args(false)
      ->group(kGroup);
}

void CompileArguments::add_explain_fusion_to(CLI::App& app) {
  app.add_flag(
         "--explain-fusion", explain_fusion,
         "Print each decision about a pattern: where it is, its shape, whether it is fused, the "
         "measured ratio with its interval, and where that comes from")
      ->group(kGroup);
}

std::string explain_fusion_text(const CompileReport& report) {
  std::string lines = report.fusion.empty() ? "the graph has no pattern of docs/fusion.md\n"
                                            : "patterns\n" + report.fusion_text();
  for (const std::string& note : report.notes) lines += "note: " + note + "\n";
  return lines;
}

CompileOptions CompileArguments::parsed() const {
  CompileOptions result = options;
  set_fusion(fusion, result);
  result.numerics = numerics_of(numerics);
  result.library = library == "always"     ? LibraryPolicy::Always
                   : library == "measured" ? LibraryPolicy::Measured
                                           : LibraryPolicy::Never;
  result.rolling = rolling == "off"      ? Rolling::Off
                   : rolling == "always" ? Rolling::Always
                                         : Rolling::Auto;
  for (const std::string& variant : variants) add_variant(variant, result);
  search.apply(result);
  for (const std::string& file : rule_files) {
    result.rules.push_back({source_name(file), read_text(file)});
  }
  return result;
}

}  // namespace luminal::cli

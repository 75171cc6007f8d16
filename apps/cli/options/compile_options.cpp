#include "apps/cli/options/compile_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "apps/cli/files/files.h"
#include "apps/cli/options/numbers.h"
#include "luminal/driver/fusion/decide_fusion.h"
#include "luminal/driver/pin_threads.h"
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
    {"never", FusionPolicy::Never},
    {"fixed", FusionPolicy::Fixed}};

std::optional<FusionPolicy> fusion_policy_of(const std::string& word) {
  for (const auto& [policy_name, policy] : kFusionPolicies) {
    if (policy_name == word) return policy;
  }
  return std::nullopt;
}

// Parses "measured,swiglu=never" into the options; returns an error message, or nothing.
std::string set_fusion(const std::string& text, PlanOptions& options) {
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string word = equals == std::string::npos ? part : part.substr(equals + 1);
    const std::optional<FusionPolicy> policy = fusion_policy_of(word);
    if (!policy) {
      return "'" + word + "' isn't a policy; known: modelled, measured, always, never and fixed";
    }
    if (equals == std::string::npos) {
      options.fusion = *policy;
      continue;
    }
    const std::string pattern = part.substr(0, equals);
    if (!fusion_pattern_from_name(pattern) && pattern != kSideBySide) {
      return "'" + pattern +
             "' isn't a pattern; known: " + CLI::detail::join(fusion_pattern_names(), " and ") +
             "; and " + kSideBySide;
    }
    options.fusion_groups[pattern] = *policy;
  }
  return {};
}

// Parses "s=1,16": the bounds of the variants' ranges.
void add_variant(const std::string& text, PlanOptions& options) {
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
  add_code_to(app);
  search.add_to(app);
}

void CompileArguments::add_code_to(CLI::App& app) {
  app.add_option("--backend", options.backend.name, "Backend: cpu or interp")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option(
         "--target", options.backend.target,
         "Instruction set of CPU kernels: amx, avx512, avx2 or sse2 (default: the best this "
         "machine supports)")
      ->group(kGroup);
  app.add_option("--machine", options.storage.machine,
                 "Plan for another machine, by the peaks that `luminal doctor --measure` printed "
                 "or kept there (default: this machine)")
      ->type_name("FILE")
      ->group(kGroup);
  add_planning_to(app);
  app.add_option("--library", library,
                 "Use oneDNN for matrix products: never, where measured to be faster, or always "
                 "where possible")
      ->check(CLI::IsMember({"never", "measured", "always"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("-t,--threads", options.backend.threads,
                 "Number of threads; 0: all that this process may use (default: 0)")
      ->check(not_negative());
  app.add_flag_callback(
         "--pin-threads", pin_threads,
         "Keep each helper thread on a core of its own: for machines that run nothing else")
      ->group(kGroup);
  app.add_option("--memory-limit", options.backend.memory_limit,
                 "Maximum memory of a run besides inputs and weights, in bytes or as 512MB; 0: the "
                 "control group's limit (default: 0)")
      ->transform(CLI::AsSizeValue(false))
      ->transform(whole_bytes())
      ->type_name("BYTES")
      ->group(kGroup);
  app.add_option("--variants", variants,
                 "Make separate plans for ranges of a variable: s=1,16 gives one up to 1, one up "
                 "to 16, one above")
      ->type_name("VARIABLE=BOUNDS")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--cache", options.storage.cache_folder,
                 "Folder for plans and compiled kernels, or 'none' (default: the user's)");
}

void CompileArguments::add_planning_to(CLI::App& app) {
  app.add_option("--fusion", fusion,
                 "When to fuse: modelled (if the cost model predicts a gain), always, never, "
                 "measured or fixed (by fixed rules, without a search); also by pattern, as in "
                 "measured,swiglu=never; see docs/fusion.md")
      ->check(CLI::Validator(
          [](const std::string& text) {
            PlanOptions unread;
            return set_fusion(text, unread);
          },
          "POLICY|PATTERN=POLICY,…"))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--fusion-profile", options.storage.fusion_profile,
                 "Measurements for policy measured: a file of `luminal tune fusion`; missing ones "
                 "are measured and added")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--numerics", numerics,
                 "Class of rules that may run, by how they change numerical results")
      ->check(CLI::IsMember(kNumerics))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--rolling", rolling,
                 "Plan repeated layers once: off, auto, or always, even if small")
      ->check(CLI::IsMember({"off", "auto", "always"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--rules", rule_files, "File with user-defined rules; see docs/rules.md")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_option("--disable-rules", options.plan.disable_rules,
                 "Group of rules to disable; `luminal rules list` names them")
      ->type_name("GROUP")
      ->allow_extra_args(false)
      ->group(kGroup);
}

void CompileArguments::add_explain_fusion_to(CLI::App& app) {
  app.add_flag("--explain-fusion", explain_fusion,
               "Print each fusion decision: place, shape, outcome, measured ratio with its "
               "interval, and where that comes from")
      ->group(kGroup);
}

std::string explain_fusion_text(const CompileReport& report) {
  std::string lines = report.fusion.empty()
                          ? "the graph has none of the patterns of docs/fusion.md\n"
                          : "patterns\n" + report.fusion_text();
  for (const std::string& note : report.notes) lines += "note: " + note + "\n";
  return lines;
}

CompileOptions CompileArguments::parsed() const {
  CompileOptions result = options;
  set_fusion(fusion, result.plan);
  result.inspect.list_patterns = explain_fusion;
  result.plan.numerics = numerics_of(numerics);
  result.backend.library = library == "always"     ? LibraryPolicy::Always
                           : library == "measured" ? LibraryPolicy::Measured
                                                   : LibraryPolicy::Never;
  result.plan.rolling = rolling == "off"      ? Rolling::Off
                        : rolling == "always" ? Rolling::Always
                                              : Rolling::Auto;
  for (const std::string& variant : variants) add_variant(variant, result.plan);
  search.apply(result);
  for (const std::string& file : rule_files) {
    result.plan.rules.push_back({source_name(file), read_text(file)});
  }
  return result;
}

}  // namespace luminal::cli

// luminal rules: lists the rewrite rules, and tests the user's own and a backend's.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/options/numbers.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"
#include "luminal/driver/options/backend_rules.h"
#include "luminal/rule_testing/test_rules.h"

namespace luminal::cli {
namespace {

struct RulesArguments {
  std::vector<std::string> files;
  BackendOptions backend;
  rule_testing::RuleTestOptions test;
  bool json = false;
};

// As compiles for the backend have them.
search::RuleSet rules_of(const RulesArguments& options) {
  std::vector<search::RuleText> texts = backend_rules(options.backend);
  for (const std::string& file : options.files) {
    texts.push_back({source_name(file), read_text(file)});
  }
  return search::RuleSet(texts);
}

void list(const RulesArguments& options) {
  const search::RuleSet rules = rules_of(options);
  if (options.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const search::RuleInfo& rule : rules.rules()) {
      all.push_back({{"rule", rule.name},
                     {"group", rule.group},
                     {"class", name(rule.numeric_class)},
                     {"origin", text(rule.origin)},
                     {"file", rule.file}});
    }
    return print_json_result(all);
  }
  constexpr auto kLine = "{:<36} {:<12} {:<14} {:<12} {}\n";
  std::cout << fmt::format(kLine, "rule", "group", "class", "origin", "file");
  for (const search::RuleInfo& rule : rules.rules()) {
    std::cout << fmt::format(kLine, rule.name, rule.group, name(rule.numeric_class),
                             text(rule.origin), rule.file);
  }
}

void test(const RulesArguments& options) {
  const search::RuleSet rules = rules_of(options);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int wrong = 0;
  const auto is_tested = [&](const search::RuleInfo& rule) {
    return options.files.empty() || rule.origin.by == search::RuleOrigin::By::User;
  };
  ProgressLine line;
  int64_t done = 0;
  const int64_t total = std::ranges::count_if(rules.rules(), is_tested);
  for (const search::RuleInfo& rule : rules.rules()) {
    if (!is_tested(rule)) continue;
    line.show_share("test", done++, total, "rules");
    const rule_testing::RuleTestResult result = rule_testing::test_rule(rules, rule, options.test);
    wrong += !result.why.empty();
    if (options.json) {
      all.push_back({{"rule", rule.name},
                     {"class", name(rule.numeric_class)},
                     {"holds", result.why.empty()},
                     {"instances", result.fired},
                     {"why", result.why}});
      continue;
    }
    line.clear();
    std::cout << fmt::format(
        "{:<36} {:<14} {}\n", rule.name, name(rule.numeric_class),
        result.why.empty() ? fmt::format("holds on {} instances", result.fired) : result.why);
  }
  line.clear();
  if (options.json) print_json_result(all);
  if (wrong > 0) throw UserError(fmt::format("{} rules failed their test", wrong));
}

void add_backend(CLI::App& app, BackendOptions& backend) {
  app.add_option("--backend", backend.name, "Backend whose own rules are included: cpu or interp")
      ->capture_default_str();
  app.add_option("--target", backend.target, "As in `luminal compile`");
}

}  // namespace

void define_rules(CLI::App& app) {
  auto options = std::make_shared<RulesArguments>();
  app.require_subcommand(1);
  CLI::App* list_app =
      app.add_subcommand("list", "List every rule with its group, class and origin");
  list_app->add_option("files", options->files, "Files with user-defined rules");
  add_backend(*list_app, options->backend);
  add_json(*list_app, options->json);
  list_app->callback([options] { list(*options); });
  CLI::App* test_app =
      app.add_subcommand("test", "Test each rule on random instances, by interpreting both sides");
  test_app->add_option(
      "files", options->files,
      "Files with user-defined rules (default: all that `luminal rules list` has)");
  add_backend(*test_app, options->backend);
  test_app->add_option("--instances", options->test.instances, "Matching instances per rule")
      ->check(positive())
      ->capture_default_str();
  test_app->add_option("--seed", options->test.seed, "Random seed")
      ->check(whole_number())
      ->capture_default_str();
  add_json(*test_app, options->json);
  test_app->callback([options] { test(*options); });
}

}  // namespace luminal::cli

#include "luminal/driver/options/backend_rules.h"

#include "luminal/backends/registry/registry.h"
#include "luminal/base/digest.h"
#include "luminal/driver/options/load_options.h"

namespace luminal {

std::vector<search::RuleText> backend_rules(const BackendOptions& options) {
  const backends::Backend& backend = backends::find_backend(options.name);
  backends::LoadOptions load;
  load.threads = threads_of(options);
  load.target = options.target;
  load.library = options.library;
  backend.target(load);  // throws for one that it doesn't know
  std::vector<search::RuleText> rules;
  for (backends::BackendRuleFile& file : backend.rules(load)) {
    rules.push_back({.file = std::move(file.name),
                     .text = std::move(file.text),
                     .origin = {search::RuleOrigin::By::Backend, options.name}});
  }
  return rules;
}

std::string backend_rules_digest(const BackendOptions& options) {
  std::string texts;
  for (const search::RuleText& file : backend_rules(options)) texts += file.text + '\n';
  return texts.empty() ? "" : base::digest(texts);
}

}  // namespace luminal

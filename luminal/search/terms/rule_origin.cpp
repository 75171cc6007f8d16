#include "luminal/search/terms/rule_origin.h"

#include <fmt/format.h>

namespace luminal::search {

std::string text(const RuleOrigin& origin) {
  switch (origin.by) {
    case RuleOrigin::By::Compiler:
      return "embedded";
    case RuleOrigin::By::Backend:
      return fmt::format("backend '{}'", origin.name);
    case RuleOrigin::By::CustomOp:
      return fmt::format("custom op '{}'", origin.name);
    case RuleOrigin::By::User:
      break;
  }
  return "user";
}

std::string rule_place(const std::string& file, const RuleOrigin& origin) {
  return origin.name.empty() ? file : fmt::format("{} of {}", file, text(origin));
}

std::string rule_test_text(const std::string& file, const RuleOrigin& origin) {
  switch (origin.by) {
    case RuleOrigin::By::Backend:
      return fmt::format("`luminal rules test --backend {}`", origin.name);
    case RuleOrigin::By::CustomOp:
      return "`luminal rules test` with a file of them";
    case RuleOrigin::By::Compiler:
    case RuleOrigin::By::User:
      break;
  }
  return fmt::format("`luminal rules test {}`", file);
}

}  // namespace luminal::search

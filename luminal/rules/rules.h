// The rule files, embedded in the library.
#pragma once

#include <span>
#include <string_view>

namespace luminal::rules {

struct RuleFile {
  std::string_view name;  // "movement.egg"
  std::string_view text;
};

// In the order they must be read.
std::span<const RuleFile> rule_files();

}  // namespace luminal::rules

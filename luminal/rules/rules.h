// The rule files, embedded in the library.
#pragma once

#include <span>
#include <string_view>

namespace luminal::rules {

struct RuleFile {
  std::string_view name;  // "movement.egg"
  std::string_view text;
};

// In the order they must be read. The first declares the terms.
std::span<const RuleFile> rule_files();

// The patterns whose fusion is decided separately; read after the first of rule_files() alone.
RuleFile pattern_file();

}  // namespace luminal::rules

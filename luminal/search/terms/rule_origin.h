// RuleOrigin: who brings a rule. Listings, reports and errors name it.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::search {

struct RuleOrigin {
  // Those who are trusted less come later.
  enum class By : uint8_t { Compiler, Backend, CustomOp, User };
  By by = By::User;
  std::string name = {};  // of the backend or the custom op
};

// "embedded", "backend 'toy'", "custom op 'square'" or "user".
std::string text(const RuleOrigin& origin);

// A file as messages name it: "mine.egg", "gemm.egg of backend 'toy'".
std::string rule_place(const std::string& file, const RuleOrigin& origin);

// What tests the rules of a file: "`luminal rules test mine.egg`".
std::string rule_test_text(const std::string& file, const RuleOrigin& origin);

}  // namespace luminal::search

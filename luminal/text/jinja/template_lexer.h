// The tokens of a chat template: text, and the contents of {{ }} and {% %}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::tokens {

struct TemplateToken {
  enum class Kind : uint8_t {
    Text,       // printed verbatim
    PrintOpen,  // {{
    PrintClose,
    TagOpen,  // {%
    TagClose,
    Name,
    String,  // with its escapes resolved
    Integer,
    Float,
    Operator,
    End
  };
  Kind kind;
  std::string text;
  int line;
};

// Splits a template as Jinja does with trim_blocks and lstrip_blocks, the settings of transformers.
// UserError with the line for a lexical error.
std::vector<TemplateToken> template_tokens(std::string_view source);

}  // namespace luminal::tokens

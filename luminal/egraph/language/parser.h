// The parser: from text to the syntax tree, with sugar (datatype, rewrite, relation) taken out.
#pragma once

#include "luminal/egraph/language/ast.h"

#include <string_view>
#include <vector>

namespace luminal::egraph {

// UserError as "source:line:column: what is wrong and the way out".
std::vector<Command> parse(std::string_view text, std::string_view source);
// One expression, for questions about a term.
Expr parse_expr(std::string_view text, std::string_view source);

// The variable of a rewrite's left side; no text can spell it.
inline constexpr const char* kRewriteRoot = " root";

}  // namespace luminal::egraph

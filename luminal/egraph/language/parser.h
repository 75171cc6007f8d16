// The parser: from text to the syntax tree; desugars datatype, rewrite and relation.
#pragma once

#include "luminal/egraph/language/ast.h"

#include <string_view>
#include <vector>

namespace luminal::egraph {

// Throws UserError as "source:line:column: what is wrong and how to fix it".
std::vector<Command> parse(std::string_view text, std::string_view source);
// Parses one expression, for questions about a term.
Expr parse_expr(std::string_view text, std::string_view source);

// The variable of a rewrite's left side; the leading blank keeps it apart from names in texts.
inline constexpr const char* kRewriteRoot = " root";

}  // namespace luminal::egraph

// The nesting depth of a JSON text, before it is parsed.
#pragma once

#include <string_view>

namespace luminal::base {

// The maximum number of lists and objects that are open at once. For invalid JSON the count is
// right up to the first error, which is as far as a parser gets. (The JSON library has a callback
// for this, but with it parsing a list of objects takes quadratic time.)
int json_depth(std::string_view text);

}  // namespace luminal::base

// How deep a JSON text is nested, before it is parsed.
#pragma once

#include <string_view>

namespace luminal::base {

// The most lists and objects that are open at once. Of a text that isn't JSON it is some number:
// right up to where the text goes wrong, which is as far as a parser gets. (The JSON library can
// ask a callback instead, but then takes quadratic time for a list of objects.)
int json_depth(std::string_view text);

}  // namespace luminal::base

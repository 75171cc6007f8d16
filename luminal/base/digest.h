// digest: a name of 64 hex digits for any bytes, the same in every run and on every machine.
#pragma once

#include <string>
#include <string_view>

namespace luminal::base {

// Different bytes have different names but by bad luck, of one in 2¹²⁸ or so. Not against an enemy:
// who relies on it compares the bytes too.
std::string digest(std::string_view bytes);

}  // namespace luminal::base

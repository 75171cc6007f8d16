// Names from a file, fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace luminal::io {

// 'name', shortened and with control characters escaped.
std::string quote(std::string_view name);

// Whether it is UTF-8: no stray, overlong or missing byte, no surrogate.
bool is_utf8(std::string_view text);

}  // namespace luminal::io

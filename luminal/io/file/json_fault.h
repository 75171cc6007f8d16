// What is wrong with a JSON text, fit for a message.
#pragma once

#include <string>
#include <string_view>

namespace luminal::io {

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …; last read:
// '…'" without the parts that repeat the position or the text, which may be long and hostile.
std::string json_fault(std::string_view message);

}  // namespace luminal::io

// source_fingerprint: which compiler this is, for caches of what a compiler made.
#pragma once

#include <string_view>

namespace luminal::base {

// As luminal/version.h states it: "0.1.0".
std::string_view library_version();

// A hash over the sources of all that decides plans and code, taken when the library was built. A
// version number would be the same before and after an edit.
std::string_view source_fingerprint();

// A hash over the sources that decide which code a kernel becomes and how it is launched: an edit
// of rules or of the search forgets no time that was measured.
std::string_view code_fingerprint();

// A hash over the sources that decide how plans and compiled code are written down and launched:
// equal in builds that can run what the other has kept.
std::string_view format_fingerprint();

}  // namespace luminal::base

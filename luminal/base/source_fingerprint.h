// source_fingerprint: identifies this build of the compiler in keys of cached results.
#pragma once

#include <string_view>

namespace luminal::base {

// As luminal/version.h states it: "0.1.0".
std::string_view library_version();

// A hash over all sources that decide plans and code, taken when the library was built. A version
// number would be the same before and after an edit.
std::string_view source_fingerprint();

// A hash over the sources that decide the code of a given kernel and how it is launched. Measured
// times stay valid when only rules or the search are edited.
std::string_view code_fingerprint();

// A hash over the sources that decide how plans and compiled code are serialised and launched.
// Builds with equal hashes can run each other's files.
std::string_view format_fingerprint();

}  // namespace luminal::base

// Seal: tells bytes that this user's own processes wrote from bytes that somebody else wrote.
//
// Compiled kernels and tuned plans are kept in files, and running them is running code. A checksum
// finds damage, but anybody can compute one. A seal is a tag that only the holder of a secret can
// compute (SipHash-2-4 with 128 bits, a keyed hash made for this).
#pragma once

#include <string>
#include <string_view>

#include "luminal/base/os/secret.h"

namespace luminal::base {

// 32 hex digits; equal for equal bytes and secrets.
std::string seal(const Secret& secret, std::string_view bytes);

}  // namespace luminal::base

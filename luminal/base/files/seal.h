// seal: a message authentication code (MAC) for files that this user's own processes write.
//
// Compiled kernels and tuned plans are kept in files, and loading them means running code. A
// checksum detects damage, but anybody can compute one. A seal can only be computed by the holder
// of a secret (SipHash-2-4 with 128 bits, a keyed hash).
#pragma once

#include <string>
#include <string_view>

#include "luminal/base/os/secret.h"

namespace luminal::base {

// 32 hex digits; equal for equal bytes and secrets.
std::string seal(const Secret& secret, std::string_view bytes);

}  // namespace luminal::base

// A secret of this user, kept in a folder: 16 random bytes that nobody else can read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "luminal/base/result.h"

namespace luminal::base {

using Secret = std::array<uint8_t, 16>;

// The secret in `folder`, in a file named `secret` that is made on first use; processes that come
// at once get the same one. Failure where the folder or the file isn't this user's alone, where it
// isn't 16 bytes long, or where it can't be made.
Result<Secret> secret_of(const std::filesystem::path& folder);

// The one in this user's cache folder, which is made if need be.
Result<Secret> user_secret();

}  // namespace luminal::base
